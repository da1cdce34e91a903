// Times of the heat map: where they are on it, and two of them compared.

import { card, dataTable, el, failure, show } from "./dom.js";
import { number, range, time } from "./format.js";
import { ask, queryOf } from "./server.js";

export const SPANS = [["3600", "last hour"], ["21600", "last six hours"], ["", "last two days"]];

/// The windows that are shown, from index `left` to before `right`, and when they begin and end.
export function shown(state) {
  const { windows } = state.answer;
  const of = (left, right) => ({ left, right, from: windows[left]?.[0] ?? 0,
    to: windows[right - 1]?.[1] ?? 1 });
  if (!state.view) return of(0, windows.length);
  const left = windows.findIndex(([, end]) => end > state.view.from);
  const right = windows.findLastIndex(([start]) => start < state.view.to) + 1;
  return left < 0 || right <= left ? of(0, windows.length) : of(left, right);
}

/// The first window that ends after a moment, which may lie in a pause before it.
export function windowAfter(windows, { left, right }, ms) {
  while (left < right) {
    const middle = (left + right) >> 1;
    if (windows[middle][1] > ms) right = middle;
    else left = middle + 1;
  }
  return left;
}

/// The label of a moment on an axis: with the day, if days are shown.
export const moment = (ms, span) => span < 20 * 3600e3 ? time(ms)
  : new Date(ms).toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit",
    hour12: false });

const times = ({ from, to }) => `${time(from)} to ${time(to)}`;

/// Buttons that mark a time, compare the shown one with it, and save both as a report.
export function timeControls(state) {
  state.marked = null;
  state.markedText = el("span", { class: "marked", hidden: true });
  state.comparison = el("div", {});
  state.compare = el("button", { type: "button", "data-key": "compare", disabled: true,
    onclick: () => compare(state) }, "Compare");
  const mark = () => {
    const { from, to } = shown(state);
    state.marked = { from, to };
    drawTimes(state);
  };
  state.report = el("a", { class: "button", "data-key": "report",
    download: `${state.table}-report.html`, href: "#" }, "Report");
  return [el("button", { type: "button", "data-key": "mark", onclick: mark }, "Mark time"),
    state.compare, state.report];
}

const query = (state) => {
  const { from, to } = shown(state);
  const { marked } = state;
  return { table: state.table, since: from, until: to, base_since: marked?.from,
    base_until: marked?.to };
};

export function drawTimes(state) {
  state.compare.disabled = !state.marked;
  state.markedText.hidden = !state.marked;
  state.markedText.textContent = state.marked ? `Marked: ${times(state.marked)}` : "";
  state.report.href = `api/report?${queryOf(query(state))}`;
}

async function compare(state) {
  try {
    const answer = await ask("compare", { ...query(state), metric: state.metric() });
    const draw = () => show(state.comparison, compared(answer, draw));
    draw();
  } catch (error) {
    show(state.comparison, failure(error.message));
  }
}

function change([before, now]) {
  if (before === now) return "";
  if (before === 0) return "new";
  return now === 0 ? "gone" : `× ${(now / before).toPrecision(2)}`;
}

/// Ranges of keys in a comparison: those that changed the most.
const COMPARED_MAX = 20;

function compared(answer, redraw) {
  const by = ({ rates }) => Math.abs(rates[1] - rates[0]);
  const ranges = [...answer.ranges].sort((one, other) => by(other) - by(one));
  const about = (name, part) => el("p", {}, el("b", {}, `${name}: `),
    `${times({ from: part.from_ms, to: part.to_ms })}, ${number(part.requests)} ${
      answer.metric.replace("_", " ")}. `,
    part.findings.length === 0 ? "Nothing was hot." : part.findings.map((one) => one.text).join(" "));
  const rate = (place) => ({ num: true, text: (row) => number(row.rates[place]),
    sort: (row) => row.rates[place] });
  return card("Compared", el("div", {},
    el("div", { class: "about" }, about("Marked", answer.base), about("Shown", answer.now)),
    dataTable("compared", [
      { title: "Keys", key: true, text: (row) => range(row.start, row.end) },
      { title: "Marked/s", ...rate(0) },
      { title: "Shown/s", ...rate(1) },
      { title: "Change", num: true, text: (row) => change(row.rates),
        sort: (row) => row.rates[1] - row.rates[0] },
    ], ranges.slice(0, COMPARED_MAX), "Nothing was recorded.", redraw)));
}
