"use strict";
// times in the reader's zone; the page itself has them in UTC
const PARTS = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
const SHORT = new Intl.DateTimeFormat(undefined, PARTS);
const WITH_YEAR = new Intl.DateTimeFormat(undefined, { year: "numeric", ...PARTS });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

function inShort(at) {
  return (at.getFullYear() === new Date().getFullYear() ? SHORT : WITH_YEAR).format(at);
}

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (isNaN(at)) continue;
    time.textContent = inShort(at);
    time.title = FULL.format(at);
  }
  for (const tick of root.querySelectorAll("text[data-at]")) tick.textContent = inShort(new Date(1000 * tick.dataset.at));
}

localTimes(document);
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
  // what one points at stays until one has read it
  const read = live.querySelector(".plot:hover");
  if (busy || read || (changed && !changed.includes(job))) event.preventDefault();
});
// without its stream a page stays as it was: that is shown, and a stream that is back brings it up to date
const away = document.querySelector("[data-away]");
document.addEventListener("htmx:sseError", () => { away.textContent = "not live: connecting again"; });
document.addEventListener("htmx:sseOpen", () => { away.textContent = ""; });
document.addEventListener("submit", (event) => event.target.querySelector("button[type=submit]")?.setAttribute("aria-busy", "true"));
addEventListener("pageshow", () => { for (const one of document.querySelectorAll("[aria-busy]")) one.removeAttribute("aria-busy"); });

let open = [], focused = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  const here = document.activeElement;
  focused = event.detail.target.contains(here) ? here.getAttribute("href") : null;
  open = [...event.detail.target.querySelectorAll("details[open][id]")].map((one) => one.id);
});
document.addEventListener("htmx:afterSwap", (event) => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) [...event.detail.target.querySelectorAll("a")].find((one) => one.getAttribute("href") === focused)?.focus({ preventScroll: true });
  localTimes(event.detail.target);
  event.detail.target.dispatchEvent(new Event("drawn", { bubbles: true }));
});

const PLACES = { q: "/", c: "/cluster", n: "/nodes", f: "/failures", a: "/accuracy", m: "/model", r: "/rules" };
const KEYS = document.getElementById("keys");
function nextRow(step) {
  const links = [...document.querySelectorAll("main tbody tr > th a")];
  const place = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  const next = links[place < 0 ? (step > 0 ? 0 : links.length - 1) : place + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
let going = false;
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (going && PLACES[event.key]) {
    event.preventDefault();
    event.stopImmediatePropagation();
    location.href = PLACES[event.key];
  }
  going = event.key === "g" && !going;
  if (KEYS.open) return;
  if (event.key === "?") KEYS.showModal();
  if (event.key === "j" || event.key === "k") nextRow(event.key === "j" ? 1 : -1);
  const target = document.querySelector(`[data-focus-key="${CSS.escape(event.key)}"]`);
  if (target) {
    event.preventDefault();
    target.focus();
  }
});
