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

document.addEventListener("DOMContentLoaded", () => {
  localTimes(document);
  document.querySelector("[data-theme-toggle]")?.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  });
});
document.addEventListener("htmx:afterSwap", (event) => localTimes(event.detail.target));
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = document.querySelector(`[data-focus-key="${CSS.escape(event.key)}"]`);
  if (target) {
    event.preventDefault();
    target.focus();
  }
});
