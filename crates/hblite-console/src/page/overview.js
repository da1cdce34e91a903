// The whole store, server or cluster.

import { card, dataTable, el, empty, failure, figures, head, show, svg } from "./dom.js";
import { bytes, dateTime, duration, number, range, time } from "./format.js";
import { callers } from "./callers.js";
import { ask, link } from "./server.js";

const HEIGHT = 190, LEFT = 46, BOTTOM = 20, TOP = 8;
/// The width up to which the style has one column of cards, and what a card takes around its chart.
const ONE_COLUMN = 900, AROUND = 50;

export async function overview(page) {
  page.update = async () => draw(page, await ask("overview"));
  await page.update();
  // Charts are drawn for the width that they have.
  const resized = () => page.redraw();
  addEventListener("resize", resized);
  page.close = () => { page.isOpen = false; removeEventListener("resize", resized); };
}

function draw(page, answer) {
  target(answer);
  const redraw = () => draw(page, answer);
  page.redraw = redraw;
  const { rates, calls } = answer;
  show(page.root,
    head("Overview", `hblite ${answer.version}, ${answer.mode === "cluster" ? "connected for" : "up"} ${
      duration(answer.now_ms - answer.started_at_ms)}`),
    answer.last_error && failure(`The last background task failed: ${answer.last_error}`),
    answer.history_problem && failure(`For the heat map: ${answer.history_problem}`),
    answer.damaged.length > 0 && failure("Damaged files:\n" +
      answer.damaged.map((file) => `${file.table}: ${file.message}`).join("\n")),
    figures([
      ["Tables", number(answer.tables)],
      ["Regions", number(answer.regions)],
      ["Reads", number(rates.reads), "/s"],
      ["Writes", number(rates.writes), "/s"],
      ["In memory", bytes(answer.memstore_bytes)],
      ["Files", number(answer.store_files), bytes(answer.store_file_bytes)],
      ["Flushes", number(answer.flushes)],
      ["Compactions", number(answer.compactions)],
    ]),
    el("div", { class: "grid" },
      card("Requests per second", chart(answer.series, [["reads", "--read"], ["writes", "--write"]],
        "Requests per second over the last hour")),
      calls ? card("Calls per second", chart(answer.series, [["calls", "--accent"]],
        "Calls per second over the last hour")) : card("Busiest regions", busiest(answer, redraw))),
    calls && callFigures(calls),
    answer.callers && card("Who sends requests", callers(answer.callers, redraw)),
    el("div", { class: "grid" },
      card("Servers", servers(answer, redraw)),
      calls ? card("Busiest regions", busiest(answer, redraw))
        : card("Calls", empty("Calls are shown by the console of hblite serve."))),
    calls && el("div", { class: "grid" },
      card("Calls by method", methods(calls, redraw)),
      card("Slow calls", slow(calls, redraw))));
}

const callFigures = (calls) => figures([
  ["Connections", number(calls.connections)],
  ["Open scanners", number(calls.scanners)],
  ["Waiting calls", number(calls.queued)],
  ["Exceptions", number(calls.exceptions)],
  ["Memory of calls", bytes(calls.memory_used_bytes), `of ${bytes(calls.memory_max_bytes)}`],
]);

const servers = (answer, redraw) => dataTable("servers", [
  { title: "Server", text: (row) => row.name },
  { title: "State", text: (row) => row.is_alive ? "up" : "down",
    node: (row) => el("span", { class: row.is_alive ? "tag good" : "tag warn" },
      row.is_alive ? "up" : "down") },
  { title: "Regions", num: true, text: (row) => number(row.regions), sort: (row) => row.regions },
  { title: "Reads/s", num: true, text: (row) => number(row.rates.reads), sort: (row) => row.rates.reads },
  { title: "Writes/s", num: true, text: (row) => number(row.rates.writes),
    sort: (row) => row.rates.writes },
  { title: "Memory", num: true, text: (row) => bytes(row.memstore_bytes),
    sort: (row) => row.memstore_bytes },
  { title: "Files", num: true, text: (row) => bytes(row.store_file_bytes),
    sort: (row) => row.store_file_bytes },
], answer.servers, "No server is known yet.", redraw);

const busiest = (answer, redraw) => dataTable("busiest", [
  { title: "Table", text: (row) => row.table,
    node: (row) => el("a", { href: link("table", { name: row.table }) }, row.table) },
  { title: "Keys", key: true, text: (row) => range(row.start_key, row.end_key) },
  { title: "Reads/s", num: true, text: (row) => number(row.rates.reads), sort: (row) => row.rates.reads },
  { title: "Writes/s", num: true, text: (row) => number(row.rates.writes),
    sort: (row) => row.rates.writes },
], answer.busiest, "No region had requests in the last 30 seconds.", redraw);

const methods = (calls, redraw) => dataTable("methods", [
  { title: "Method", text: (row) => row.method },
  { title: "Calls", num: true, text: (row) => number(row.calls), sort: (row) => row.calls },
  { title: "Mean time", num: true, text: (row) => duration(row.mean_micros / 1000),
    sort: (row) => row.mean_micros },
], calls.methods.filter((method) => method.calls > 0),
"No client has called over HBase's protocol.",
redraw);

const slow = (calls, redraw) => dataTable("slow", [
  { title: "Ended", text: (row) => dateTime(row.at_ms).slice(11, 19), sort: (row) => row.at_ms },
  { title: "Call", text: (row) => row.exception
    ? `${row.method}: ${row.exception.split(".").pop()}` : row.method },
  { title: "Tables", text: (row) => row.tables.join(", ") },
  { title: "Time", num: true, text: (row) => duration(row.micros / 1000), sort: (row) => row.micros },
], calls.slow, "No call took 100 ms or longer.", redraw);

/// Lines of rates over time.
function chart(series, lines, label) {
  const count = series.end_ms.length;
  if (count < 2) return empty("Recording began a moment ago.");
  const most = Math.max(1, ...lines.flatMap(([name]) => series[name]));
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [0.2, 0.5, 1, 2].map((part) => part * power).find((part) => most / part <= 5) ?? power;
  const max = Math.ceil(most / step) * step;
  const [from, to] = [series.end_ms[0], series.end_ms[count - 1]];
  const whole = document.getElementById("main").clientWidth;
  const width = Math.max(240, whole / (innerWidth > ONE_COLUMN ? 2 : 1) - AROUND);
  const x = (ms) => LEFT + (ms - from) / (to - from) * (width - LEFT - 8);
  const y = (value) => HEIGHT - BOTTOM - value / max * (HEIGHT - BOTTOM - TOP);
  const parts = [];
  for (let tick = 0; tick <= max * 1.001; tick += step) {
    parts.push(svg("line", { class: "rule", x1: LEFT, x2: width - 8, y1: y(tick), y2: y(tick) }),
      svg("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, number(tick)));
  }
  for (const share of [0, 0.5, 1]) {
    const anchor = ["start", "middle", "end"][share * 2];
    const ms = from + share * (to - from);
    parts.push(svg("text", { x: x(ms), y: HEIGHT - 4, "text-anchor": anchor }, time(ms)));
  }
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", preserveAspectRatio: "none",
    "aria-label": `${label}: now ${lines.map(([name]) => `${series[name].at(-1)} ${name}`).join(", ")}`,
  }, parts, lines.map(([name, colour]) => {
    const points = series[name].map((value, at) =>
      `${x(series.end_ms[at]).toFixed(1)},${y(value).toFixed(1)}`);
    const line = svg("polyline", { points: points.join(" "), fill: "none", "stroke-width": 1.6 });
    line.style.stroke = `var(${colour})`;
    return line;
  }));
  const key = lines.map(([name, colour]) => {
    const mark = el("i", {});
    mark.style.background = `var(${colour})`;
    return el("span", {}, mark, `${name}: ${number(series[name].at(-1))}/s`);
  });
  return el("div", { class: "body chart" }, picture, el("div", { class: "legend" }, key));
}

/// Shows in the head of the page which store, server or cluster this is.
export function target(answer) {
  const kind = { store: "store", server: "server of", cluster: "cluster" }[answer.mode];
  const place = document.getElementById("target");
  place.textContent = `${kind} ${answer.name}`;
  place.title = answer.name;
}
