"use strict";
// Draws a plot again where its values are in it: values under the pointer, and zoom. The page is
// complete without it.
(() => {
  const COLOURS = 7, DASHES = [[], [7, 3], [2, 2.5], [9, 3, 2, 3]];
  const MINUTE = 60, HOUR = 3600, DAY = 86400;
  const UNITS = [[2 * DAY, DAY, "d"], [HOUR, HOUR, "h"], [MINUTE, MINUTE, "min"], [0, 1, "s"]];
  const STEPS = [1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 30].map((one) => one * MINUTE),
    ...[1, 2, 3, 6, 12].map((one) => one * HOUR), ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((one) => one * DAY)];
  const duration = (seconds) => {
    const whole = Math.round(seconds);
    if (whole >= MINUTE && whole < 10 * MINUTE && whole % MINUTE) return `${Math.floor(whole / MINUTE)} min ${whole % MINUTE} s`;
    const [, size, unit] = UNITS.find(([least]) => seconds >= least) ?? UNITS[3];
    return `${Number((seconds / size).toPrecision(3))} ${unit}`;
  };
  const DAY_PARTS = { month: "short", day: "numeric" }, TIME_PARTS = { hour: "2-digit", minute: "2-digit" };
  const TIME = new Intl.DateTimeFormat(undefined, TIME_PARTS);
  // a year that is not this one is named
  const dated = (parts) => {
    const short = new Intl.DateTimeFormat(undefined, parts), long = new Intl.DateTimeFormat(undefined, { year: "numeric", ...parts });
    return (at) => (at.getFullYear() === new Date().getFullYear() ? short : long).format(at);
  };
  const inDays = dated(DAY_PARTS), inMoments = dated({ ...DAY_PARTS, ...TIME_PARTS });
  // the date stands where a day begins
  function moments(_, marks, _axis, _space, step) {
    let day = "";
    return marks.map((mark) => {
      const at = new Date(1000 * mark), date = inDays(at), known = date === day;
      day = date;
      return step >= DAY ? date : known ? TIME.format(at) : `${TIME.format(at)}\n${date}`;
    });
  }
  const WORDS = {
    time: duration,
    clock: (at) => inMoments(new Date(1000 * at)),
    share: (value) => `${Number((100 * value).toPrecision(3))} %`,
    ratio: (value) => `${value.toFixed(2)}x`,
    number: (value) => value.toLocaleString("en", { maximumSignificantDigits: 5 }),
  };
  const LETTERS = `${Math.round(0.8 * parseFloat(getComputedStyle(document.body).fontSize))}px system-ui, sans-serif`;
  const drawn = new Set();
  const zoomed = new Map();

  const probe = document.createElement("span");
  function colour(name) {
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  }
  const palette = {};
  function mix() {
    for (const name of ["soft", "line", ...Array.from({ length: COLOURS }, (_, number) => `c${number}`)]) palette[name] = colour(name);
  }

  function columns({ lines, stacked }) {
    const [x, ...rows] = uPlot.join(lines.map(([, at, values]) => [at, values]));
    if (!stacked) return { data: [x, ...rows], raw: rows };
    const sum = new Array(x.length).fill(0);
    const tops = rows.map((row) => row.map((value, place) => (sum[place] += value ?? 0)));
    return { data: [x, ...tops.reverse()], raw: rows };
  }

  // at a moment between two values a step still has the one before
  function before(row, place) {
    while (place >= 0 && row[place] == null) place -= 1;
    return row[place];
  }

  function series(found, raw) {
    const count = found.lines.length;
    const paths = found.stepped ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear();
    return Array.from({ length: count }, (_, place) => {
      const number = found.stacked ? count - 1 - place : place;
      const own = `c${(found.colour + number) % COLOURS}`;
      return {
        label: found.lines[number][0],
        stroke: () => palette[own],
        fill: found.stacked ? () => palette[own] : undefined,
        width: found.stacked ? 0 : 2,
        dash: found.stacked || count === 1 ? undefined : DASHES[number % DASHES.length],
        paths, spanGaps: true, points: { show: false },
        value: (plot, value, _series, at) => {
          const here = at == null ? null : found.stepped ? before(raw[number], at) : raw[number][at];
          return here == null ? "" : WORDS[found.y.kind](here);
        },
      };
    });
  }

  function axes({ x, y }) {
    const look = { stroke: () => palette.soft, grid: { stroke: () => palette.line, width: 1 }, ticks: { show: false }, font: LETTERS, labelFont: LETTERS, labelSize: 20, labelGap: 2 };
    const across = { ...look, scale: "x", label: x.title || undefined, size: 30, gap: 6, space: 80, filter: (_, marks) => marks };
    if (x.kind === "time") across.incrs = STEPS;
    if (x.kind === "clock") Object.assign(across, { values: moments, size: 42 });
    else across.values = (_, marks) => marks.map((mark) => (mark == null ? "" : WORDS[x.kind](mark)));
    if (x.log) across.splits = (_, _axis, low, high) => x.ticks.filter((tick) => tick >= low && tick <= high);
    const up = { ...look, scale: "y", label: y.title || undefined, size: 56, gap: 6, values: (_, marks) => marks.map((mark) => WORDS[y.kind](mark)) };
    return [across, up];
  }

  function draw(box) {
    const found = JSON.parse(box.dataset.plot);
    if (!box.clientWidth || found.lines.length === 0) return;
    const { data, raw } = columns(found);
    const place = document.createElement("div");
    place.className = "drawn";
    place.title = "drag to zoom, double-click for all of it";
    const range = (_, low, high) => (found.y.zero ? [0, Math.max(high * 1.05, 1e-9)] : uPlot.rangeNum(low, high, 0.08, false));
    const key = `${location.pathname} ${box.getAttribute("aria-label").split(":")[0]}`;
    box.append(place);
    box.classList.add("live");
    const plot = new uPlot({
      width: box.clientWidth, height: found.height,
      scales: { x: { time: found.x.kind === "clock", distr: found.x.log ? 3 : 1 }, y: { range } },
      series: [{ label: "at", value: (_, at) => (at == null ? "" : WORDS[found.x.kind](at)) }, ...series(found, raw)],
      padding: [8, 14, 0, 0],
      axes: axes(found),
      legend: { live: true, markers: { width: 0, fill: (_, number) => palette[`c${(found.colour + (found.stacked ? found.lines.length - number : number - 1)) % COLOURS}`] } },
      cursor: { drag: { x: true, y: false }, points: { show: !found.stacked, size: 7 }, focus: { prox: 24 } },
      focus: { alpha: found.stacked ? 1 : 0.35 },
      hooks: {
        setScale: [(one, name) => {
          if (name !== "x") return;
          const { min, max } = one.scales.x, all = one.data[0];
          if (min > all[0] || max < all.at(-1)) zoomed.set(key, { min, max });
          else zoomed.delete(key);
        }],
      },
    }, data, place);
    if (zoomed.has(key)) plot.setScale("x", zoomed.get(key));
    const own = { box, plot, place };
    own.watch = new ResizeObserver(() => plot.setSize({ width: Math.max(box.clientWidth, 120), height: found.height }));
    own.watch.observe(box);
    drawn.add(own);
  }

  function drawAll(root) {
    for (const own of drawn) {
      if (own.box.isConnected) continue;
      own.watch.disconnect();
      own.plot.destroy();
      drawn.delete(own);
    }
    for (const box of root.querySelectorAll("[data-plot]:not(.live)")) draw(box);
  }

  document.addEventListener("colours", () => {
    mix();
    for (const { plot } of drawn) plot.redraw(false, true);
  });
  document.addEventListener("toggle", (event) => event.target.matches?.("details[open]") && drawAll(event.target), true);
  document.addEventListener("drawn", (event) => drawAll(event.target));
  mix();
  drawAll(document);
})();
