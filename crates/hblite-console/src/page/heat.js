// The heat map of a table: time to the right, keys downwards, brightness by requests or bytes.

import { card, csv, el, empty, failure, head, save, show } from "./dom.js";
import { bytes, number, range, time } from "./format.js";
import { callers } from "./callers.js";
import { ask, link } from "./server.js";
import { SPANS, drawTimes, moment, shown, timeControls, windowAfter } from "./times.js";

const STOPS = ["000004", "1b0c41", "4a0c6b", "781c6d", "a52c60", "cf4446", "ed6925", "fb9b06",
  "f7d13d", "fcffa4"].map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
const SERVERS = [[110, 190, 255], [255, 165, 90], [130, 220, 130], [240, 130, 200], [230, 215, 90],
  [170, 150, 255], [100, 220, 215], [255, 125, 120]];
const METRICS = [["requests", "Requests"], ["reads", "Reads"], ["writes", "Writes"],
  ["bytes", "Bytes"], ["bytes_read", "Bytes read"], ["bytes_written", "Bytes written"]];
const SCALES = {
  root: (share) => Math.sqrt(share), linear: (share) => share,
  log: (share) => Math.log1p(share * 999) / Math.log(1000),
};
const SAMPLED = {
  requests: "Within a region, ranges have their usual shares, and others where the sampled requests of "
    + "a time differ by more than chance.",
  writes: "A cluster's keys are sampled from what was written: reads are divided evenly in a region.",
  none: "No keys are sampled here: rows of the map are whole regions.",
};
const TOP = 10, BOTTOM = 26, ROW = 15;
/// Settings that stay the same from table to table.
const kept = { metric: "requests", scale: "root", colour: "heat", pinned: null, last: "3600" };

export async function heat(page) {
  const names = (await ask("tables")).tables.filter((table) => table.is_in_service);
  const user = names.filter((table) => !table.is_system);
  const table = page.parameters.table ?? [...user].sort((left, right) =>
    right.write_requests + right.read_requests - left.write_requests - left.read_requests)[0]?.name;
  if (!table) {
    show(page.root, head("Heat map"), card(null, empty("There is no table to show yet.")));
    return;
  }
  const state = { page, table, names, view: null, cursor: null, drag: null, answer: null };
  build(state);
  page.update = async () => {
    if (state.drag) return;
    const { from, to } = page.parameters;
    state.answer = await ask("heat", { table, metric: kept.metric, rows: rowsOf(state), from, to,
      last: kept.last });
    draw(state);
    drawFindings(state);
    drawTimes(state);
  };
  page.redraw = () => draw(state);
  const observer = new ResizeObserver(() => draw(state));
  observer.observe(state.canvas);
  page.close = () => { page.isOpen = false; observer.disconnect(); };
  try {
    await page.update();
  } catch (error) {
    state.findings.replaceChildren(failure(error.message));
  }
}

const rowsOf = (state) => Math.max(20, Math.min(120, Math.floor((state.height - TOP - BOTTOM) / 4)));

function select(label, options, value, change) {
  const node = el("select", { "data-key": label, onchange: (event) => change(event.target.value) },
    options.map(([name, text]) => el("option", { value: name }, text)));
  node.value = value;
  return el("label", { class: "inline" }, el("span", {}, label), node);
}

function build(state) {
  const { page, table } = state;
  state.height = 560;
  state.canvas = el("canvas", { tabindex: "0", role: "img", "data-key": "map",
    "aria-describedby": "spoken" });
  state.tip = el("div", { class: "tip", hidden: true });
  state.spoken = el("p", { id: "spoken", class: "unseen", role: "status" });
  state.findings = el("div", { class: "findings" });
  state.callers = el("div", {});
  state.metric = () => kept.metric;
  state.legend = el("div", { class: "legend scale" });
  state.max = el("input", { type: "number", min: 0, step: "any", class: "max", "data-key": "max",
    "aria-label": "Brightest value per second", onchange: (event) => {
      const value = Number(event.target.value);
      kept.pinned = value > 0 ? value : null;
      draw(state);
    } });
  state.pin = el("input", { type: "checkbox", "data-key": "pin", onchange: (event) => {
    kept.pinned = event.target.checked ? state.brightest : null;
    draw(state);
  } });
  state.whole = el("button", { type: "button", "data-key": "whole",
    onclick: () => zoomOut(state) }, "Whole map");
  const again = () => page.update().catch((error) => say(state, error.message));
  const tables = select("Table", state.names.map(({ name }) => [name, name]), table,
    (name) => { location.hash = link("heat", { table: name }); });
  const spans = select("Time", SPANS, kept.last, (last) => {
    kept.last = last;
    state.view = null;
    again();
  });
  const times = timeControls(state);
  show(page.root,
    head("Heat map", "Drag to zoom, or use the arrow keys, Enter and Esc.", tables, spans),
    state.findings,
    el("section", { class: "card" },
      el("div", { class: "title" }, el("div", { class: "actions" },
        select("Show", METRICS, kept.metric, (name) => {
          Object.assign(kept, { metric: name, pinned: null });
          again();
        }),
        select("Scale", [["root", "square root"], ["linear", "linear"], ["log", "logarithmic"]],
          kept.scale, (name) => { kept.scale = name; draw(state); }),
        select("Colour", [["heat", "heat"], ["server", "server"]], kept.colour,
          (name) => { kept.colour = name; draw(state); }),
        el("label", { class: "inline" }, state.pin, el("span", {}, "Pin at"), state.max,
          el("span", {}, "/s"))),
      el("div", { class: "actions" }, state.markedText, times, state.whole,
        el("button", { type: "button", "data-key": "png", onclick: () => savePng(state) }, "PNG"),
        el("button", { type: "button", "data-key": "csv", onclick: () => saveCsv(state) }, "CSV"),
        el("button", { type: "button", "data-key": "json", onclick: () => save(`${table}-heat.json`,
          "application/json", JSON.stringify(state.answer)) }, "JSON"))),
      el("div", { class: "map" }, state.canvas, state.tip), state.legend, state.spoken),
    state.comparison, state.callers, adviser(state));
  state.canvas.addEventListener("pointermove", (event) => move(state, event));
  state.canvas.addEventListener("pointerleave", () => { if (!state.drag) hide(state); });
  state.canvas.addEventListener("pointerdown", (event) => press(state, event));
  state.canvas.addEventListener("pointerup", (event) => release(state, event));
  state.canvas.addEventListener("keydown", (event) => key(state, event));
  state.canvas.addEventListener("blur", () => { state.cursor = null; hide(state); draw(state); });
}

// Drawing ----------------------------------------------------------------------------------------

const isBytes = () => kept.metric.startsWith("bytes");
const amount = (value) => (isBytes() ? bytes(value) : number(value));

function colourOf(share, server) {
  if (kept.colour === "server" && server !== null) {
    return SERVERS[server % SERVERS.length].map((part) => part * (share > 0 ? 0.12 + 0.88 * share : 0));
  }
  const place = Math.min(1, Math.max(0, share)) * (STOPS.length - 1);
  const low = Math.min(STOPS.length - 2, Math.floor(place));
  return STOPS[low].map((part, at) => part + (STOPS[low + 1][at] - part) * (place - low));
}

const rate = (answer, window, row) => {
  const [start, end] = answer.windows[window];
  return answer.counts[window][row] / Math.max(0.001, (end - start) / 1000);
};

function layout(state) {
  const box = state.canvas.getBoundingClientRect();
  const left = box.width < 600 ? 92 : 190;
  return { x: left, y: TOP, width: Math.max(1, box.width - left - 8),
    height: state.height - TOP - BOTTOM, full: box.width };
}

function draw(state) {
  const { answer, canvas } = state;
  if (!answer || !canvas.isConnected && canvas.getBoundingClientRect().width === 0) return;
  const plot = layout(state);
  const density = devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(plot.full * density));
  canvas.height = Math.round(state.height * density);
  const context = canvas.getContext("2d");
  context.scale(density, density);
  const style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue(name).trim();
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = ink("--faint");
  state.whole.disabled = !state.view && !state.page.parameters.from && !state.page.parameters.to;
  const rows = answer.ranges.length;
  const span = shown(state);
  canvas.setAttribute("aria-label", `${kept.metric} of ${state.table}: ${rows} key ranges, `
    + `${answer.windows.length} windows of time`);
  if (rows === 0 || answer.windows.length === 0) {
    context.textAlign = "center";
    context.fillText(rows === 0 ? "The table has no regions in service."
      : "Recording began a moment ago.", plot.full / 2, state.height / 2);
    document.documentElement.dataset.drawn = "empty";
    return;
  }
  // A time without windows, as of a restart, has no colour.
  context.fillStyle = ink("--line");
  context.fillRect(plot.x, plot.y, plot.width, plot.height);
  field(state, context, plot, span, density);
  labels(state, context, plot, ink);
  axis(context, plot, span);
  if (state.cursor) outline(state, context, plot, span, ink("--accent"));
  if (state.drag?.box) {
    const { x, y, width, height } = state.drag.box;
    context.strokeStyle = "#fff";
    context.strokeRect(x + 0.5, y + 0.5, width, height);
  }
  legend(state);
  drawTimes(state);
  document.documentElement.dataset.drawn = `${state.table} ${kept.metric}`;
}

function field(state, context, plot, { left, right, from, to }, density) {
  const { answer } = state;
  const rows = answer.ranges.length;
  const { windows } = answer;
  const columns = Math.max(1, Math.round(plot.width * density));
  const values = new Float64Array(columns * rows);
  const isKnown = new Uint8Array(columns);
  state.brightest = 0;
  const at = (column) => from + (to - from) * column / columns;
  for (let column = 0; column < columns; column++) {
    for (let window = windowAfter(windows, { left, right }, at(column));
      window < right && windows[window][0] < at(column + 1); window++) {
      isKnown[column] = 1;
      for (let row = 0; row < rows; row++) {
        const value = rate(answer, window, row);
        if (value > values[row * columns + column]) values[row * columns + column] = value;
        if (value > state.brightest) state.brightest = value;
      }
    }
  }
  const max = kept.pinned ?? state.brightest;
  const image = new ImageData(columns, rows);
  for (let at = 0; at < values.length; at++) {
    const share = max > 0 ? SCALES[kept.scale](Math.min(1, values[at] / max)) : 0;
    const server = answer.ranges[Math.floor(at / columns)].server;
    image.data.set([...colourOf(share, server), 255 * isKnown[at % columns]], at * 4);
  }
  const small = new OffscreenCanvas(columns, rows);
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, plot.x, plot.y, plot.width, plot.height);
}

function labels(state, context, plot, ink) {
  const { ranges } = state.answer;
  const height = plot.height / ranges.length;
  let last = -Infinity;
  ranges.forEach((one, index) => {
    const y = plot.y + index * height;
    const isRegion = index === 0 || ranges[index - 1].region !== one.region;
    if (isRegion && index > 0) {
      context.fillStyle = "#ffffff70";
      context.fillRect(plot.x, y, plot.width, 1);
    }
    if (y - last < ROW || (!isRegion && nearRegion(ranges, index, height))) return;
    last = y;
    context.fillStyle = isRegion ? ink("--ink") : ink("--faint");
    context.textAlign = "right";
    context.textBaseline = "top";
    const text = one.start === "" ? "first key" : one.start;
    context.fillText(fitted(context, text, plot.x - 12), plot.x - 8, Math.max(plot.y, y - 2));
    context.fillRect(plot.x - 5, y, 5, 1);
  });
}

/// Whether the label of the next region would have no space below that of a bucket.
function nearRegion(ranges, index, height) {
  for (let next = index + 1; next < ranges.length && (next - index) * height < ROW; next++) {
    if (ranges[next].region !== ranges[index].region) return true;
  }
  return false;
}

function fitted(context, text, width) {
  let shown = text.length > 60 ? text.slice(0, 59) + "…" : text;
  while (shown.length > 2 && context.measureText(shown).width > width) {
    shown = shown.slice(0, -2) + "…";
  }
  return shown;
}

function axis(context, plot, { from, to }) {
  const count = Math.max(1, Math.floor(plot.width / 130));
  context.textBaseline = "alphabetic";
  for (let tick = 0; tick <= count; tick++) {
    const x = plot.x + plot.width * tick / count;
    context.textAlign = tick === 0 ? "left" : tick === count ? "right" : "center";
    context.fillRect(Math.min(x, plot.x + plot.width - 1), plot.y + plot.height, 1, 4);
    context.fillText(moment(from + (to - from) * tick / count, to - from), x, plot.y + plot.height + 18);
  }
}

function cellBox(state, plot, { from, to }) {
  const { window, row } = state.cursor;
  const [start, end] = state.answer.windows[window];
  const [scale, height] = [plot.width / (to - from), plot.height / state.answer.ranges.length];
  return [plot.x + (start - from) * scale, plot.y + row * height, (end - start) * scale, height];
}

function outline(state, context, plot, span, colour) {
  const [x, y, width, height] = cellBox(state, plot, span);
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(x - 2, y - 2, Math.max(4, width) + 4, Math.max(4, height) + 4);
  context.lineWidth = 1;
}

function legend(state) {
  const max = kept.pinned ?? state.brightest;
  state.pin.checked = kept.pinned !== null;
  if (document.activeElement !== state.max) state.max.value = Number(max.toPrecision(4));
  const ramp = el("canvas", { width: 160, height: 1, class: "ramp" });
  const context = ramp.getContext("2d");
  for (let x = 0; x < 160; x++) {
    context.fillStyle = `rgb(${colourOf(x / 159, null).map(Math.round).join(" ")})`;
    context.fillRect(x, 0, 1, 1);
  }
  const servers = [...new Set(state.answer.ranges.map((one) => one.server))]
    .filter((server) => server !== null).sort((one, other) => one - other);
  state.legend.replaceChildren(...(kept.colour === "server"
    ? servers.map((server) => el("span", {},
      el("i", { colour: `rgb(${SERVERS[server % SERVERS.length].join(" ")})` }),
      state.answer.servers[server] ?? `server ${server}`))
    : [el("span", { class: "ramps" }, "0 ", ramp, ` ${amount(max)}/s`)]),
  el("span", {}, `key ranges: ${state.answer.ranges.length}, regions: ${state.answer.regions}`),
  el("span", {}, SAMPLED[state.answer.sampled] ?? ""));
}

// Pointer and keys -------------------------------------------------------------------------------

function place(state, event) {
  const box = state.canvas.getBoundingClientRect();
  const plot = layout(state);
  const { left, right, from, to } = shown(state);
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const rows = state.answer.ranges.length;
  if (rows === 0 || right === left) return null;
  const clamp = (value, most) => Math.max(0, Math.min(most - 1, value));
  const inside = x >= plot.x && x <= plot.x + plot.width && y >= plot.y && y <= plot.y + plot.height;
  return { x, y, inside,
    window: Math.max(left, Math.min(right - 1, windowAfter(state.answer.windows, { left, right },
      from + (x - plot.x) / plot.width * (to - from)))),
    row: clamp(Math.floor((y - plot.y) / plot.height * rows), rows) };
}

/// What a count may be wrong by, as twice the standard error of its share in the sample. Those of
/// whole regions are exact, and so are all if every request was sampled.
function error(answer, window, row) {
  const { ranges } = answer;
  const isOther = (at) => ranges[at] === undefined || ranges[at].region !== ranges[row].region;
  const sampled = answer.sampled_requests[window];
  const sum = answer.counts[window].reduce((sum, count) => sum + count, 0);
  const share = answer.counts[window][row] / sum;
  if ((isOther(row - 1) && isOther(row + 1)) || !(share > 0) || (!isBytes() && sampled >= sum)) return "";
  const part = sampled > 0 ? 2 * Math.sqrt((1 - share) / (share * sampled)) : 1;
  return part < 0.995 ? ` ± ${Math.ceil(part * 100)} %` : ", by the sample of other windows";
}

function describe(state, { window, row }) {
  const { answer } = state;
  const one = answer.ranges[row];
  const [start, end] = answer.windows[window];
  const value = rate(answer, window, row);
  return [["b", `${amount(value)}/s ${kept.metric.replace("_", " ")}${error(answer, window, row)}`],
    ["span", `${time(start)} to ${time(end)}`], ["code", range(one.start, one.end)],
    ["span", `region ${one.region + 1} of ${answer.regions}` +
      (one.server === null ? "" : `, ${answer.servers[one.server] ?? ""}`)]];
}

function hide(state) {
  state.tip.hidden = true;
}

function tipAt(state, at, x, y) {
  const { tip } = state;
  tip.replaceChildren(...describe(state, at).map(([tag, text]) => el("div", {}, el(tag, {}, text))));
  tip.hidden = false;
  const width = state.canvas.clientWidth;
  tip.style.left = `${Math.max(0, Math.min(x + 14, width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${y + 18 + tip.offsetHeight > state.height ? y - tip.offsetHeight - 10 : y + 18}px`;
}

function move(state, event) {
  if (!state.answer) return;
  const at = place(state, event);
  if (!at) return;
  if (state.drag) {
    const { start } = state.drag;
    state.drag.box = { x: Math.min(at.x, start.x), y: Math.min(at.y, start.y),
      width: Math.abs(at.x - start.x), height: Math.abs(at.y - start.y) };
    draw(state);
  } else if (at.inside) tipAt(state, at, at.x, at.y);
  else hide(state);
}

function press(state, event) {
  const at = state.answer && place(state, event);
  if (!at?.inside) return;
  state.drag = { start: at, box: null };
  state.canvas.setPointerCapture(event.pointerId);
}

function release(state, event) {
  const { drag } = state;
  state.drag = null;
  const at = drag && place(state, event);
  if (!at) return;
  if (drag.box && (drag.box.width > 6 || drag.box.height > 6)) {
    zoom(state, [Math.min(drag.start.window, at.window), Math.max(drag.start.window, at.window)],
      [Math.min(drag.start.row, at.row), Math.max(drag.start.row, at.row)],
      drag.box.width > 6, drag.box.height > 6);
  } else draw(state);
}

function zoom(state, [first, last], [top, bottom], byTime, byKey) {
  const { windows, ranges } = state.answer;
  if (byTime) state.view = { from: windows[first][0], to: windows[last][1] };
  if (byKey) Object.assign(state.page.parameters, { from: ranges[top].start, to: ranges[bottom].end });
  settle(state);
}

function zoomOut(state) {
  state.view = null;
  Object.assign(state.page.parameters, { from: "", to: "" });
  settle(state);
}

function settle(state) {
  state.cursor = null;
  hide(state);
  const { from, to } = state.page.parameters;
  history.replaceState(null, "", link("heat", { table: state.table, from, to }));
  state.page.update().catch((error) => say(state, error.message));
}

const say = (state, text) => { state.spoken.textContent = text; };

function key(state, event) {
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  if (!state.answer || state.answer.ranges.length === 0 || state.answer.windows.length === 0) return;
  const { left, right } = shown(state);
  const step = steps[event.key];
  if (step) {
    const from = state.cursor ?? { window: right - 1, row: 0 };
    const by = state.cursor ? step : [0, 0];
    state.cursor = {
      window: Math.max(left, Math.min(right - 1, from.window + by[0])),
      row: Math.max(0, Math.min(state.answer.ranges.length - 1, from.row + by[1])),
    };
    draw(state);
    const plot = layout(state);
    const [x, y] = cellBox(state, plot, shown(state));
    tipAt(state, state.cursor, x, y);
    say(state, describe(state, state.cursor).map(([, text]) => text).join(", "));
  } else if (event.key === "Enter" && state.cursor) {
    const { window, row } = state.cursor;
    const around = Math.max(2, Math.floor((right - left) / 8));
    zoom(state, [Math.max(left, window - around), Math.min(right - 1, window + around)], [row, row],
      right - left > 8, true);
  } else if (event.key === "Escape") zoomOut(state);
  else return;
  event.preventDefault();
}

// Findings and advice ----------------------------------------------------------------------------

function drawFindings(state) {
  const { findings, windows } = state.answer;
  const drawCallers = () => show(state.callers, state.answer.callers
    && card("Who sends requests", callers(state.answer.callers, drawCallers)));
  drawCallers();
  const quiet = windows.length < 2 ? null
    : el("p", { class: "note" }, "Nothing is hot in the last five minutes.");
  show(state.findings, findings.length === 0 ? quiet : findings.map((found, index) =>
    el("div", { class: "finding" }, el("div", {}, el("b", {}, found.text), el("p", {}, found.help)),
      found.keys && state.answer.regions > 0 && found.kind !== "single" && el("button", {
        type: "button", "data-key": `finding-${index}`, onclick: () => {
          Object.assign(state.page.parameters, { from: found.keys.start, to: found.keys.end });
          settle(state);
        },
      }, "Zoom in"))));
}

function adviser(state) {
  const design = el("input", { class: "mono", value: "row:bytes", spellcheck: "false",
    "data-key": "design" });
  const queries = el("textarea", { class: "mono", rows: 2, spellcheck: "false",
    value: "row = ?", "data-key": "queries" });
  const answer = el("div", {});
  const submit = async (event) => {
    event.preventDefault();
    show(answer, el("p", { class: "note" }, "Searching…"));
    try {
      const advice = await ask("advice",
        { table: state.table, design: design.value, queries: queries.value });
      show(answer, el("p", {}, "Proposed key: ", el("code", {}, advice.design),
        ` (from ${number(advice.keys)} sampled rows)`), el("pre", { class: "advice" }, advice.text));
    } catch (error) {
      show(answer, failure(error.message));
    }
  };
  return card("What would spread the load", el("form", { class: "body", onsubmit: submit },
    el("p", { class: "note" }, "The adviser tries other keys on the sampled rows. Describe the "
      + "current key and the queries in the syntax of hblite hotspot advise."),
    el("div", { class: "bar advise" },
      el("label", { class: "field" }, el("span", {}, "Current key"), design),
      el("label", { class: "field" }, el("span", {}, "Queries, one per line"), queries),
      el("div", { class: "buttons" }, el("button", { class: "main", type: "submit",
        "data-key": "advise" }, "Advise"))), answer));
}

// Export -----------------------------------------------------------------------------------------

function savePng(state) {
  state.canvas.toBlob((blob) => save(`${state.table}-heat.png`, "image/png", blob));
}

function saveCsv(state) {
  const { answer } = state;
  const lines = answer.windows.flatMap(([start, end], window) => answer.ranges.map((one, row) =>
    [new Date(start).toISOString(), new Date(end).toISOString(), one.start, one.end, one.name,
      answer.counts[window][row]]));
  save(`${state.table}-heat.csv`, "text/csv",
    csv([["from", "to", "first key", "key after", "region", answer.metric], ...lines]));
}
