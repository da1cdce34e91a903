"use strict";
// Draws the heat map: unpacks the counts of a design, brings cells to pixels, tells what is under
// the pointer. Nothing is loaded from anywhere.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const canvas = byId("map");
const tip = byId("tip");
const colours = new Uint32Array(256);
for (let index = 0; index < 256; index++) {
  const rgb = parseInt(data.colours.slice(index * 6, index * 6 + 6), 16);
  colours[index] = 0xff000000 | (rgb & 0xff) << 16 | (rgb & 0xff00) | rgb >> 16;
}
const WIDE = { left: 168, top: 46, right: 150, bottom: 44, legend: 66 };
// On a narrow page the map gets the space of long labels and of the totals at the right.
const NARROW = { left: 100, top: 46, right: 74, bottom: 44, legend: 12 };
let frame = WIDE;
const state = { design: 0, metric: "writes", scale: "root", common: true, view: null, cell: null };
const unpacked = new Map();

// Counts -----------------------------------------------------------------------------------------

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint32Array(await new Response(stream).arrayBuffer());
}

/// The counts of a design and metric with what is summed up of them.
async function countsOf(index, metric) {
  const name = index + metric;
  if (!unpacked.has(name)) {
    const design = data.designs[index];
    const [counts, cells] = await Promise.all([
      unpack(design[metric]),
      design.cells === null ? null : unpack(design.cells),
    ]);
    unpacked.set(name, summed(design, counts, cells));
  }
  return unpacked.get(name);
}

function summed(design, counts, cells) {
  const { columns, rows } = design;
  const regionTotals = new Float64Array(rows);
  const windows = [];
  let max = 0;
  for (let column = 0; column < columns; column++) {
    let sum = 0, hottest = 0, regions = 0, last = -1;
    for (let row = 0; row < rows; row++) {
      const place = column * rows + row;
      const region = cells === null ? row : cells[place];
      // A region that was split later stands in several rows, and counts once.
      let height = 1;
      if (cells !== null) {
        while (row + height < rows && cells[place + height] === region) height++;
      }
      const count = counts[place];
      sum += count;
      regions += region === last ? 0 : 1;
      last = region;
      hottest = Math.max(hottest, count);
      for (let part = 0; part < height; part++) regionTotals[row + part] += count / height;
      row += height - 1;
    }
    max = Math.max(max, hottest);
    windows.push({ sum, hottest, regions, heat: sum > 0 ? hottest * regions / sum : 0 });
  }
  const total = windows.reduce((sum, window) => sum + window.sum, 0);
  return { counts, cells, windows, regionTotals, total, max };
}

// Texts ------------------------------------------------------------------------------------------

function number(value) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (value >= size * (unit === "k" ? 10 : 1)) return (value / size).toPrecision(3) + " " + unit;
  }
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

function duration(ns) {
  for (const [unit, size] of [["h", 7200e9], ["min", 120e9], ["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    const divisor = { h: 3600e9, min: 60e9 }[unit] ?? size;
    if (ns >= size) return Number((ns / divisor).toPrecision(3)) + " " + unit;
  }
  return ns === 0 ? "0" : Number(ns.toPrecision(3)) + " ns";
}

const percent = (share) => (share * 100).toFixed(share < 0.0995 ? 1 : 0) + " %";
const keyName = (key, empty) => key === "" ? empty : key;

function roundTicks(max, count) {
  if (!(max > 0)) return [0];
  const power = 10 ** Math.floor(Math.log10(max / count));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => max / step <= count);
  const ticks = [];
  for (let tick = 0; tick <= max * 1.0000001; tick += step) ticks.push(tick);
  return ticks;
}

// Drawing ----------------------------------------------------------------------------------------

const brightnessOf = {
  linear: (share) => share,
  root: (share) => Math.sqrt(share),
  log: (share, max) => Math.log1p(share * max) / Math.log1p(max),
};

async function maximum() {
  const indices = state.common ? data.designs.keys() : [state.design];
  let max = 0;
  for (const index of indices) max = Math.max(max, (await countsOf(index, state.metric)).max);
  return max;
}

let drawing = 0;
async function draw() {
  const turn = ++drawing;
  const design = data.designs[state.design];
  const counted = await countsOf(state.design, state.metric);
  const max = await maximum();
  if (turn !== drawing) return;
  const box = canvas.getBoundingClientRect();
  const density = window.devicePixelRatio || 1;
  canvas.width = Math.round(box.width * density);
  canvas.height = Math.round(box.height * density);
  const context = canvas.getContext("2d");
  const view = state.view ?? { left: 0, right: design.columns, top: 0, bottom: design.rows };
  frame = box.width < 640 ? NARROW : WIDE;
  byId("shares").hidden = frame === NARROW;
  const plot = {
    x: frame.left, y: frame.top,
    width: box.width - frame.left - frame.right, height: box.height - frame.top - frame.bottom,
  };
  Object.assign(state, { plot, shown: view, counted });
  field(context, density, plot, view, design, counted, max);
  context.scale(density, density);
  const style = getComputedStyle(document.documentElement);
  const ink = { ink: "--ink", faint: "--faint", grid: "--grid", accent: "--accent" };
  for (const name in ink) ink[name] = style.getPropertyValue(ink[name]).trim();
  context.font = "12px " + getComputedStyle(document.body).fontFamily;
  keyAxis(context, plot, view, design, ink);
  timeAxis(context, plot, view, design, ink);
  margins(context, plot, view, counted, ink);
  legend(context, plot, max, ink, box.width);
  cursor(context, plot, view, ink);
  const root = document.documentElement.dataset;
  root.drawn = design.name + " " + state.metric;
  root.firstMs ??= String(Math.round(performance.now()));
}

/// The cells, each pixel in the colour of the greatest count behind it.
function field(context, density, plot, view, design, counted, max) {
  const width = Math.max(1, Math.round(plot.width * density));
  const height = Math.max(1, Math.round(plot.height * density));
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const shade = new Map();
  const colourOf = (count) => {
    let colour = shade.get(count);
    if (colour === undefined) {
      const share = max > 0 ? brightnessOf[state.scale](count / max, max) : 0;
      colour = colours[Math.min(255, Math.max(0, Math.round(share * 255)))];
      shade.set(count, colour);
    }
    return colour;
  };
  const ranges = (pixels, from, to) => Array.from({ length: pixels }, (_, pixel) => {
    const first = from + Math.floor(pixel * (to - from) / pixels);
    const last = from + Math.ceil((pixel + 1) * (to - from) / pixels);
    return [first, to - from >= pixels ? Math.max(last, first + 1) : first + 1];
  });
  const columns = ranges(width, view.left, view.right);
  const rows = ranges(height, view.top, view.bottom);
  const gap = height / (view.bottom - view.top) >= 12 * density ? Math.round(density) : 0;
  let line = null, lineOf = null;
  for (let y = 0; y < height; y++) {
    const [top, bottom] = rows[y];
    const isGap = gap > 0 && y >= gap && rows[y - gap][0] !== top;
    if (lineOf !== top + ":" + bottom) {
      line = new Uint32Array(width);
      for (let x = 0; x < width; x++) {
        let most = 0;
        for (let column = columns[x][0]; column < columns[x][1]; column++) {
          for (let row = top; row < bottom; row++) {
            most = Math.max(most, counted.counts[column * design.rows + row]);
          }
        }
        line[x] = colourOf(most);
      }
      lineOf = top + ":" + bottom;
    }
    if (!isGap) {
      pixels.set(line, y * width);
    } else if (counted.cells !== null) {
      // A region that is split later has no border in the middle of itself.
      for (let x = 0; x < width; x++) {
        const place = columns[x][0] * design.rows + top;
        if (counted.cells[place] === counted.cells[place - 1]) pixels[y * width + x] = line[x];
      }
    }
  }
  context.putImageData(image, Math.round(plot.x * density), Math.round(plot.y * density));
}

/// The number of characters with which all keys begin. The first region has none.
function sharedLength([, first = "", ...others]) {
  let length = first.length;
  for (const other of others) {
    while (!other.startsWith(first.slice(0, length))) length -= 1;
  }
  return others.length === 0 ? 0 : length;
}

/// A label that fits: without what all have in common, as far as necessary, and then its end.
function cut(context, text, width, shared) {
  const fits = (shown) => context.measureText(shown).width <= width;
  if (fits(text)) return text;
  for (let from = 2; from <= shared; from++) {
    if (fits("…" + text.slice(from))) return "…" + text.slice(from);
  }
  if (shared >= 2) text = "…" + text.slice(shared);
  while (text.length > 1 && !fits(text + "…")) text = text.slice(0, -1);
  return text + "…";
}

function keyAxis(context, plot, view, design, ink) {
  const height = plot.height / (view.bottom - view.top);
  const every = Math.max(1, Math.ceil(17 / height));
  const shared = sharedLength(design.labels);
  context.textAlign = "right";
  for (let row = view.top; row < view.bottom; row += every) {
    const y = plot.y + (row - view.top) * height;
    context.fillStyle = ink.faint;
    context.fillRect(plot.x - 5, y, 5, 1);
    context.fillStyle = ink.ink;
    context.fillText(cut(context, design.labels[row], frame.left - 12, shared), plot.x - 9, y + 10);
  }
}

function timeAxis(context, plot, view, design, ink) {
  const column = design.end_ns / design.columns;
  const from = view.left * column, to = view.right * column;
  context.textAlign = "center";
  const step = roundTicks(to - from, Math.max(2, Math.min(8, plot.width / 80)))[1] ?? to - from;
  for (let tick = Math.ceil(from / step - 1e-9) * step; tick <= to * 1.0000001; tick += step) {
    const x = plot.x + plot.width * (tick - from) / (to - from);
    context.fillStyle = ink.faint;
    context.fillRect(x, plot.y + plot.height, 1, 5);
    context.fillStyle = ink.ink;
    context.fillText(duration(tick), x, plot.y + plot.height + 19);
  }
  context.fillStyle = ink.faint;
  context.fillText("time, in windows of " + duration(column), plot.x + plot.width / 2,
    plot.y + plot.height + 37);
}

/// Hottest over mean of each window above, share of each region in the run at the right.
function margins(context, plot, view, counted, ink) {
  const hottest = counted.windows.reduce((most, window) => Math.max(most, window.heat), 1);
  const column = plot.width / (view.right - view.left);
  context.fillStyle = ink.accent;
  for (let index = view.left; index < view.right; index++) {
    const height = 28 * counted.windows[index].heat / hottest;
    const x = plot.x + (index - view.left) * column;
    context.fillRect(x, plot.y - 5 - height, Math.max(column * 0.8, 0.6), height);
  }
  const most = counted.regionTotals.reduce((most, total) => Math.max(most, total), 0);
  const row = plot.height / (view.bottom - view.top);
  const hasTotals = most > 0 && frame === WIDE;
  for (let index = view.top; index < view.bottom && hasTotals; index++) {
    const width = 40 * counted.regionTotals[index] / most;
    const y = plot.y + (index - view.top) * row;
    context.fillRect(plot.x + plot.width + 6, y + row * 0.1, width, Math.max(row * 0.8, 0.6));
  }
  context.fillStyle = ink.faint;
  context.textAlign = "left";
  context.fillText("hottest/mean of each window, up to " + number(Number(hottest.toPrecision(3))),
    plot.x, plot.y - 36);
  if (hasTotals) context.fillText("run", plot.x + plot.width + 6, plot.y - 8);
}

function legend(context, plot, max, ink, width) {
  const x = width - frame.right + frame.legend;
  for (let y = 0; y < plot.height; y++) {
    const colour = colours[Math.round((1 - y / plot.height) * 255)];
    context.fillStyle = `rgb(${colour & 255} ${colour >> 8 & 255} ${colour >> 16 & 255})`;
    context.fillRect(x, plot.y + y, 14, 1.5);
  }
  context.textAlign = "left";
  context.fillStyle = ink.faint;
  context.fillText(frame === WIDE ? state.metric + "/window" : state.metric, x - 8, plot.y - 8);
  let last = Infinity;
  const ticks = state.scale === "log"
    ? [0, ...Array.from({ length: 10 }, (_, power) => 10 ** power).filter((tick) => tick <= max)]
    : roundTicks(max, 6);
  for (const tick of ticks) {
    const share = max > 0 ? brightnessOf[state.scale](tick / max, max) : 0;
    const y = plot.y + plot.height * (1 - share);
    if (last - y < 15) continue;
    last = y;
    context.fillStyle = ink.faint;
    context.fillRect(x + 14, y, 4, 1);
    context.fillStyle = ink.ink;
    context.fillText(number(tick), x + 22, y + 4);
  }
}

function cursor(context, plot, view, ink) {
  const width = plot.width / (view.right - view.left);
  const height = plot.height / (view.bottom - view.top);
  if (state.cell !== null) {
    const [column, row] = state.cell;
    context.strokeStyle = ink.accent;
    context.lineWidth = 1.5;
    context.strokeRect(plot.x + (column - view.left) * width, plot.y + (row - view.top) * height,
      Math.max(width, 2), Math.max(height, 2));
  }
  if (state.drag) {
    const { from, to } = state.drag;
    context.strokeStyle = "#fff";
    context.setLineDash([4, 3]);
    context.strokeRect(from[0], from[1], to[0] - from[0], to[1] - from[1]);
    context.setLineDash([]);
  }
}

// Pointer and keys -------------------------------------------------------------------------------

function cellAt(x, y) {
  const { plot, shown } = state;
  if (!plot || x < plot.x || y < plot.y || x >= plot.x + plot.width || y >= plot.y + plot.height) {
    return null;
  }
  const share = [(x - plot.x) / plot.width, (y - plot.y) / plot.height];
  return [
    Math.floor(shown.left + share[0] * (shown.right - shown.left)),
    Math.floor(shown.top + share[1] * (shown.bottom - shown.top)),
  ];
}

/// What a cell says, line by line.
function said([column, row]) {
  const design = data.designs[state.design];
  const { counts, cells, windows } = state.counted;
  const place = column * design.rows + row;
  const region = cells === null ? design.layout[row] : cells[place];
  const [start, end] = design.regions[region];
  const count = counts[place];
  const window = windows[column];
  const step = design.end_ns / design.columns;
  const lines = [
    `${number(count)} ${state.metric}`,
    `region ${row + 1} of ${design.rows}: from ${keyName(start, "the first key")} to ` +
      keyName(end, "the last key"),
    `time ${duration(column * step)} to ${duration((column + 1) * step)}`,
  ];
  if (window.sum > 0) {
    const mean = window.sum / window.regions;
    lines.push(`${percent(count / window.sum)} of the window, ${(count / mean).toFixed(2)} × the mean`);
  }
  return lines;
}

function showTip(cell, x, y) {
  tip.hidden = cell === null;
  if (cell === null) return;
  const [first, ...rest] = said(cell);
  const bold = document.createElement("b");
  bold.textContent = first;
  tip.replaceChildren(bold, ...rest.flatMap((line, index) =>
    index === 0 ? [line] : [document.createElement("br"), line]));
  const width = canvas.clientWidth;
  tip.style.left = Math.min(x + 16, width - tip.offsetWidth - 4) + "px";
  tip.style.top = Math.max(0, y + 18 + tip.offsetHeight > canvas.clientHeight
    ? y - tip.offsetHeight - 12 : y + 18) + "px";
}

function place(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

canvas.addEventListener("pointerdown", (event) => {
  if (cellAt(...place(event)) === null) return;
  canvas.setPointerCapture(event.pointerId);
  state.drag = { from: place(event), to: place(event) };
});
canvas.addEventListener("pointermove", (event) => {
  const [x, y] = place(event);
  showTip(cellAt(x, y), x, y);
  if (state.drag) {
    state.drag.to = [x, y];
    draw();
  }
});
canvas.addEventListener("pointerup", (event) => {
  const drag = state.drag;
  state.drag = null;
  if (!drag) return;
  const { plot } = state;
  const inside = ([x, y]) => [
    Math.min(Math.max(x, plot.x), plot.x + plot.width - 1),
    Math.min(Math.max(y, plot.y), plot.y + plot.height - 1),
  ];
  const one = inside(drag.from), other = inside(place(event));
  if (Math.abs(one[0] - other[0]) > 6 && Math.abs(one[1] - other[1]) > 6) {
    const from = cellAt(Math.min(one[0], other[0]), Math.min(one[1], other[1]));
    const to = cellAt(Math.max(one[0], other[0]), Math.max(one[1], other[1]));
    setView({ left: from[0], top: from[1], right: to[0] + 1, bottom: to[1] + 1 });
  } else {
    draw();
  }
});
canvas.addEventListener("pointerleave", () => showTip(null));
canvas.addEventListener("dblclick", () => setView(null));

canvas.addEventListener("keydown", (event) => {
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  if (event.key === "Escape") {
    state.cell = null;
    showTip(null);
    setView(null);
  } else if (event.key in steps && state.shown) {
    event.preventDefault();
    const { plot, shown } = state;
    const [column, row] = state.cell ?? [shown.left - steps[event.key][0], shown.top - steps[event.key][1]];
    const clamp = (value, from, to) => Math.min(Math.max(value, from), to - 1);
    state.cell = [
      clamp(column + steps[event.key][0], shown.left, shown.right),
      clamp(row + steps[event.key][1], shown.top, shown.bottom),
    ];
    const x = plot.x + plot.width * (state.cell[0] - shown.left) / (shown.right - shown.left);
    const y = plot.y + plot.height * (state.cell[1] - shown.top) / (shown.bottom - shown.top);
    showTip(state.cell, x, y);
    byId("spoken").textContent = said(state.cell).join(", ");
    draw();
  }
});

// Controls ---------------------------------------------------------------------------------------

function setView(view) {
  state.view = view;
  byId("whole").disabled = view === null;
  draw();
}

function setDesign(index) {
  Object.assign(state, { design: index, view: null, cell: null });
  const design = data.designs[index];
  const code = document.createElement("code");
  code.textContent = design.key;
  const key = design.key === "" ? [] : ["Key ", code, ". "];
  byId("design-key").replaceChildren(...key, design.summary);
  canvas.setAttribute("aria-label", `Heat map of ${design.name}, ${design.rows} regions by ` +
    `${design.columns} windows. ${design.summary}`);
  setView(null);
}

for (const [index, design] of data.designs.entries()) {
  byId("design").add(new Option(design.name, index));
}
byId("design").addEventListener("change", (event) => setDesign(Number(event.target.value)));
const measured = new Set(data.designs.flatMap((design) => design.metrics));
state.metric = ["writes", "reads", "bytes"].find((metric) => measured.has(metric)) ?? "writes";
for (const radio of document.getElementsByName("metric")) {
  radio.checked = radio.value === state.metric;
  radio.parentElement.hidden = !measured.has(radio.value) && !radio.checked;
  radio.addEventListener("change", () => { state.metric = radio.value; draw(); });
}
byId("scale").addEventListener("change", (event) => { state.scale = event.target.value; draw(); });
byId("common").addEventListener("change", (event) => { state.common = event.target.checked; draw(); });
byId("whole").addEventListener("click", () => setView(null));
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("cost")?.addEventListener("change", (event) => {
  for (const picture of document.querySelectorAll("[data-cost]")) {
    picture.hidden = picture.dataset.cost !== event.target.value;
  }
});
new ResizeObserver(() => draw()).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
setDesign(0);
