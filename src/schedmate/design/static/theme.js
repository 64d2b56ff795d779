"use strict";
// read before the page is drawn, so that it does not flash in the other colours
{
  const root = document.documentElement;
  const kept = {
    get theme() { try { return localStorage.getItem("theme"); } catch { return null; } },
    set theme(value) { try { localStorage.setItem("theme", value); } catch { /* for this page only */ } },
  };
  const changed = () => document.dispatchEvent(new Event("colours"));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const turn = () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    kept.theme = root.dataset.theme;
    changed();
  };
  if (kept.theme) root.dataset.theme = kept.theme;
  dark.addEventListener("change", changed);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", turn);
    document.addEventListener("keydown", (event) => {
      if (event.key === "t" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.matches("input, textarea, select")) turn();
    });
  });
}
