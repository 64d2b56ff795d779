"use strict";
// times in the reader's zone; the page itself has them in UTC
const SHORT = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (isNaN(at)) continue;
    time.textContent = SHORT.format(at);
    time.title = FULL.format(at);
  }
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}

document.addEventListener("DOMContentLoaded", () => {
  localTimes(document);
  document.querySelector("[data-theme-toggle]")?.addEventListener("click", switchTheme);
});
document.addEventListener("submit", (event) => {
  const words = event.submitter?.dataset.confirm;
  if (words && !confirm(words)) event.preventDefault();
});

// a live part is not replaced while a form in it is used, nor for another job's change
document.addEventListener("htmx:beforeRequest", (event) => {
  const live = event.target;
  const busy = live.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
  const job = live.dataset?.job;
  const data = event.detail.requestConfig.triggeringEvent?.detail?.data;
  const changed = job && data ? JSON.parse(data).jobs : null;
  if (busy || (changed && !changed.includes(job))) event.preventDefault();
});
let open = [];
document.addEventListener("htmx:beforeSwap", (event) => {
  open = [...event.detail.target.querySelectorAll("details[open][id]")].map((one) => one.id);
});
document.addEventListener("htmx:afterSwap", (event) => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  localTimes(event.detail.target);
});

const PLACES = { q: "/", c: "/cluster", n: "/nodes", f: "/failures", a: "/accuracy", m: "/model", r: "/rules" };
let going = false;
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (going && PLACES[event.key]) {
    event.preventDefault();
    event.stopImmediatePropagation();
    location.href = PLACES[event.key];
  }
  going = event.key === "g" && !going;
  if (event.key === "t") switchTheme();
  const target = document.querySelector(`[data-focus-key="${CSS.escape(event.key)}"]`);
  if (target) {
    event.preventDefault();
    target.focus();
  }
});
