"use strict";
// Says the values where the mouse is, and shows one policy alone. The page is complete without it.
(() => {
  const units = [[172800, 86400, "d"], [3600, 3600, "h"], [60, 60, "min"], [0, 1, "s"]];
  const time = (seconds) => {
    const [, size, unit] = units.find(([least]) => seconds >= least) || units[3];
    return `${Number((seconds / size).toPrecision(3))} ${unit}`;
  };
  const words = {
    time,
    share: (value) => `${(100 * value).toFixed(1)}%`,
    ratio: (value) => `${value.toFixed(2)}x`,
    number: (value) => value.toLocaleString("en", { maximumFractionDigits: 1 }),
  };
  const placeOf = (x, at, near) => {
    let found = -1;
    while (found + 1 < x.length && x[found + 1] <= at) found += 1;
    const after = near && found + 1 < x.length && (found < 0 || x[found + 1] - at < at - x[found]);
    return after ? found + 1 : found;
  };
  for (const item of document.querySelectorAll(".legend li")) {
    const lines = [...item.closest("figure").querySelectorAll("path[data-name]")];
    const others = lines.filter((line) => line.dataset.name !== item.dataset.name);
    const dim = (on) => others.forEach((line) => line.classList.toggle("dim", on));
    item.addEventListener("mouseenter", () => dim(true));
    item.addEventListener("mouseleave", () => dim(false));
  }
  for (const plot of document.querySelectorAll("svg[data-hover]")) {
    const told = JSON.parse(plot.dataset.hover);
    const [low, high, log, left, right] = told.x;
    const said = document.createElement("div");
    said.className = "said";
    said.hidden = true;
    plot.parentNode.appendChild(said);
    plot.addEventListener("mouseleave", () => { said.hidden = true; });
    plot.addEventListener("mousemove", (event) => {
      const box = plot.getBoundingClientRect();
      const place = (event.clientX - box.left) / box.width * plot.viewBox.baseVal.width;
      const share = (place - left) / (right - left);
      said.hidden = share < 0 || share > 1;
      const at = log ? low * (high / low) ** share : low + share * (high - low);
      const lines = told.lines.map(([name, x, y]) => {
        const value = y[placeOf(x, at, told.near)];
        return `${name}: ${value === undefined || value === null ? "-" : words[told.shows](value)}`;
      });
      const nearest = told.near ? told.lines[0][1][placeOf(told.lines[0][1], at, true)] : at;
      const head = told.labels ? told.labels[nearest] : words[told.along](nearest);
      said.textContent = [head, ...lines].join("\n");
      const beside = share > 0.5 ? { right: `${100 - 100 * place / 720 + 2}%`, left: "auto" }
        : { left: `${100 * place / 720 + 2}%`, right: "auto" };
      Object.assign(said.style, beside);
    });
  }
})();
