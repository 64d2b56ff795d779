"use strict";
// the log's own page: later lines as they come, earlier ones on demand, the next error by a key
const LINES_KEPT = 5000;
const LOOK_EVERY_MS = 1500;
const NEAR_END_PX = 80;

const lines = document.getElementById("lines");
const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_END_PX;

async function look(parameters) {
  const answer = await fetch(`${lines.dataset.url}&${new URLSearchParams(parameters)}`);
  if (!answer.ok) throw new Error(answer.statusText);
  return { rows: await answer.text(), head: (name) => answer.headers.get(`X-Log-${name}`) };
}

function follow() {
  const button = document.querySelector("[data-follow]");
  let following = true;
  const show = () => {
    button.textContent = following ? "Follows" : "Stopped; follow again";
    button.setAttribute("aria-pressed", following);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    following = !following;
    if (following) scrollTo(0, document.documentElement.scrollHeight);
    show();
  });
  let before = scrollY;
  addEventListener("scroll", () => {
    if (scrollY < before) following = false;
    else if (atEnd()) following = true;
    before = scrollY;
    show();
  }, { passive: true });
  show();

  setInterval(async () => {
    if (document.hidden) return;
    try {
      const found = await look({ at: lines.dataset.end, known: lines.dataset.known });
      if (found.head("Anew") === "yes") lines.replaceChildren();
      const rows = document.createElement("template");
      rows.innerHTML = found.rows;
      for (const row of rows.content.querySelectorAll(".row")) document.getElementById(row.id)?.remove();
      lines.append(rows.content);
      while (lines.childElementCount > LINES_KEPT) lines.firstElementChild.remove();
      lines.dataset.end = found.head("End");
      lines.dataset.known = found.head("Identity");
      document.querySelector(".empty")?.toggleAttribute("hidden", lines.childElementCount > 0);
      if (following) {
        scrollTo(0, document.documentElement.scrollHeight);
        before = scrollY;
      }
      away.textContent = "";
    } catch { // the next look may find it again
      away.textContent = "not live: connecting again";
    }
  }, LOOK_EVERY_MS);
}

function onDemand(link, parameters, place) {
  link?.addEventListener("click", async (event) => {
    event.preventDefault();
    const found = await look(parameters());
    const height = document.documentElement.scrollHeight;
    lines.insertAdjacentHTML(place, found.rows);
    if (place === "afterbegin") {
      lines.dataset.begin = found.head("Begin");
      scrollBy(0, document.documentElement.scrollHeight - height);
      if (found.head("Begin") === "0") link.remove();
    } else {
      lines.dataset.end = found.head("End");
      if (Number(found.head("End")) >= Number(found.head("Size"))) link.remove();
    }
  });
}

// the line that the keys go on from: after a jump the one that the address names
let current = null;
function named() {
  const at = new URLSearchParams(location.search).get("at");
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  return row?.matches(".row") ? row : at && location.hash ? lines.querySelector(`.row[data-at="${CSS.escape(at)}"]`) : null;
}
function mark(row) {
  current?.classList.remove("here");
  current = row;
  row?.classList.add("here");
}
function start(rows, step) {
  const place = rows.indexOf(current);
  if (place >= 0) return place;
  const fromEnd = "beyond" in lines.dataset ? lines.dataset.beyond !== "earlier" : step < 0;
  return fromEnd ? rows.length : -1;
}
function nextError(step) {
  const rows = [...lines.querySelectorAll(".row, .gap")];
  let place = start(rows, step) + step;
  while (rows[place]?.matches(".row:not(.err, .cause)")) place += step;
  const next = rows[place];
  if (next?.matches(".row")) {
    mark(next);
    next.scrollIntoView({ block: "center" });
    next.querySelector(".ln").focus({ preventScroll: true });
    return;
  }
  // errors may be in what is folded, or not loaded: the server goes on behind or before the nearest line
  const edge = rows[place - step];
  const link = new URL(document.querySelector("[data-next-error]").href);
  link.searchParams.set("at", edge ? Number(edge.dataset.at) + (step > 0 ? 1 : 0) : 0);
  if (step < 0) link.searchParams.set("back", "1");
  location.href = link;
}

if (lines) {
  if ("last" in lines.dataset) scrollTo(0, document.documentElement.scrollHeight);
  if ("follows" in lines.dataset) follow();
  onDemand(document.querySelector("[data-earlier]"), () => ({ at: lines.dataset.begin, back: true }), "afterbegin");
  onDemand(document.querySelector("[data-later]"), () => ({ at: lines.dataset.end }), "beforeend");
  mark(named());
  addEventListener("hashchange", () => mark(named() ?? current));
  document.querySelector("[data-next-error]")?.addEventListener("click", (event) => {
    event.preventDefault();
    nextError(1);
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.defaultPrevented || !document.querySelector("[data-next-error]")) return;
    if (event.key === "n") nextError(1);
    if (event.key === "p") nextError(-1);
  });
}
