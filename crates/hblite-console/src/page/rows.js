// Rows of a table, a page at a time.

import { card, csv, el, empty, failure, head, save, show } from "./dom.js";
import { DECODINGS, bytes, dateTime, decode, fromBase64 } from "./format.js";
import { ask, link } from "./server.js";

const FIELDS = ["start", "stop", "prefix", "columns", "filter", "versions", "limit"];

export async function rows(page) {
  const { parameters } = page;
  page.decoding = parameters.decode ?? "auto";
  page.redraw = () => draw(page);
  // After an error the form is still shown, so that a wrong parameter can be corrected.
  try {
    page.answer = await ask("rows", parameters);
  } catch (error) {
    page.error = error.message;
  }
  draw(page);
}

function go(page, changes) {
  location.hash = link("rows", { ...page.parameters, decode: page.decoding, ...changes });
}

function submit(page, form) {
  const entered = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
  const reversed = form.elements.reversed.checked ? "1" : "";
  const hash = link("rows", {
    table: page.parameters.table, ...entered, reversed, decode: page.decoding,
  });
  if (hash === location.hash) dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = hash;
}

function form(page) {
  const value = (name) => page.parameters[name] ?? "";
  const field = (name, title, size, placeholder, more) => el("label", { class: `field ${size}` },
    el("span", {}, title), el("input", {
      name, value: value(name), placeholder, autocomplete: "off", spellcheck: "false",
      class: "mono", ...more,
    }));
  const numeric = { type: "number", min: 1 };
  const node = el("form", { class: "bar", onsubmit: (event) => {
    event.preventDefault();
    submit(page, event.target);
  } },
    field("start", "First row", "", "\\x00 for bytes"),
    field("stop", "Stop before", ""),
    field("prefix", "Prefix", ""),
    field("columns", "Columns", "", "info, info:name"),
    field("filter", "Filter", "wide", "ValueFilter(=, 'substring:abc')"),
    field("versions", "Versions", "small", "1", { ...numeric, max: 1000 }),
    field("limit", "Rows", "small", "50", { ...numeric, max: 500 }),
    el("label", { class: "check" }, el("input", {
      type: "checkbox", name: "reversed", checked: value("reversed") === "1",
    }), "Reversed"),
    el("div", { class: "buttons" }, el("button", { class: "main", type: "submit" }, "Scan")));
  return card(null, el("div", { class: "body" }, node));
}

function draw(page) {
  const { table } = page.parameters;
  const { answer } = page;
  const decoding = el("select", {
    "aria-label": "Show values as", "data-key": "decoding",
    onchange: (event) => { page.decoding = event.target.value; draw(page); },
  }, DECODINGS.map((name) => el("option", { value: name }, `Values as ${name}`)));
  decoding.value = page.decoding;
  const actions = answer && answer.rows.length > 0 ? [decoding,
    el("button", { type: "button", "data-key": "csv", onclick: () => saveCsv(page) }, "CSV"),
    el("button", { type: "button", "data-key": "json", onclick: () => saveJson(page) }, "JSON")] : [];
  show(page.root,
    head(`Rows of ${table}`, null,
      el("a", { href: link("table", { name: table }), "data-key": "table" }, "Table"), actions),
    form(page),
    page.error && failure(page.error),
    answer && card(null, [result(page, answer), pager(page, answer)]));
}

function result(page, answer) {
  if (answer.rows.length === 0) {
    return empty(answer.is_late
      ? "No row was found in 5 seconds. The next page continues from where the scan stopped."
      : page.parameters.after ? "There are no more rows." : "No row matches.");
  }
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Row"),
      el("th", { scope: "col" }, "Column, value and time"))),
    el("tbody", {}, answer.rows.map((row) => el("tr", {},
      el("td", { class: "key" }, row.row === "" ? "(empty)" : row.row),
      el("td", {}, el("div", { class: "cells" }, row.cells.map((cell) => cellOf(page, cell))),
        row.more_cells && el("p", { class: "note" }, "More cells: select columns to see them.")))))));
}

function cellOf(page, cell) {
  const decoded = decode(fromBase64(cell.value), page.decoding);
  const shown = fromBase64(cell.value).length;
  return [
    el("code", {}, `${cell.family}:${cell.qualifier}`),
    el("div", {}, el("div", { class: decoded.kind === "text" ? "value" : "value mono",
      title: `${decoded.kind}, ${bytes(cell.length)}` }, decoded.text),
    shown < cell.length && el("p", { class: "note" },
      `The first ${bytes(shown)} of ${bytes(cell.length)}`)),
    el("time", { class: "time", title: String(cell.timestamp) }, dateTime(cell.timestamp)),
  ];
}

function pager(page, answer) {
  const first = page.parameters.after || page.parameters.start;
  const next = answer.next;
  return el("div", { class: "pager" },
    el("span", { class: "faint", role: "status" }, `${answer.rows.length} row` +
      (answer.rows.length === 1 ? "" : "s") + (answer.is_late ? ", stopped after 5 seconds" : "")),
    el("span", { class: "actions" },
      el("button", { type: "button", disabled: !first, "data-key": "first",
        onclick: () => go(page, { start: "", after: "" }) }, "First page"),
      el("button", { type: "button", disabled: !next, "data-key": "next",
        onclick: () => go(page, { start: next.start, after: next.after ? "1" : "" }) },
      "Next page")));
}

function saveCsv(page) {
  const lines = page.answer.rows.flatMap((row) => row.cells.map((cell) => [row.row,
    `${cell.family}:${cell.qualifier}`, cell.timestamp,
    decode(fromBase64(cell.value), page.decoding).text]));
  save(`${page.parameters.table}-rows.csv`, "text/csv",
    csv([["row", "column", "timestamp", "value"], ...lines]));
}

const saveJson = (page) => save(`${page.parameters.table}-rows.json`, "application/json",
  JSON.stringify(page.answer.rows, null, 2));
