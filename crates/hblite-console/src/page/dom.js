// Builds the page. Text becomes text nodes: nothing is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else if (name === "checked") node.checked = value;
    else if (name === "colour") node.style.setProperty("background", value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(2)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export const el = (tag, attributes, ...children) =>
  build(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);

export const card = (title, body, ...actions) => el("section", { class: "card" },
  title && el("div", { class: "title" }, el("h2", {}, title),
    actions.length > 0 && el("div", { class: "actions" }, actions)), body);
export const empty = (text) => el("p", { class: "empty" }, text);
export const failure = (text) => el("p", { class: "error", role: "alert" }, text);
export const head = (title, about, ...actions) => el("div", { class: "head" },
  el("div", {}, el("h1", {}, title), about && el("p", {}, about)),
  el("div", { class: "actions" }, actions));
export const figures = (list) => el("dl", { class: "figures" }, list.map(([name, value, more]) =>
  el("div", {}, el("dt", {}, name), el("dd", {}, value, more && el("small", {}, " ", more)))));

/// Finds in `parent` what had the focus: the same control, or a link to the same address.
function sameAs(focused, parent) {
  const key = focused.dataset?.key;
  if (key) return parent.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const href = focused.getAttribute?.("href");
  return href && parent.querySelector(`a[href="${CSS.escape(href)}"]`);
}

/// Replaces what is shown. The focus stays where it was, or moves to the content of the page if that
/// is gone.
export function show(parent, ...children) {
  const focused = document.activeElement;
  const wasInside = parent.contains(focused) && parent !== focused;
  parent.replaceChildren(...children.flat().filter(Boolean));
  if (!wasInside) return;
  sameAs(focused, parent)?.focus({ preventScroll: true });
  // It is gone, or it is a button that cannot be pressed now.
  if (document.activeElement === document.body) {
    document.getElementById("main").focus({ preventScroll: true });
  }
}

const sorting = new Map();

/// A table that its headers sort. A column: title, text(row), and node(row), sort(row), num, key.
export function dataTable(name, columns, rows, nothing, redraw) {
  if (rows.length === 0) return empty(nothing);
  const sort = sorting.get(name);
  const by = sort && columns[sort.column];
  const sorted = by ? [...rows].sort((left, right) => {
    const [a, b] = [left, right].map((row) => (by.sort ?? by.text)(row));
    const order = typeof a === "number" ? a - b : String(a) < String(b) ? -1 : 1;
    return sort.down ? -order : order;
  }) : rows;
  const header = (column, index) => {
    const press = () => {
      const is = sorting.get(name);
      sorting.set(name, { column: index, down: is?.column === index ? !is.down : !!column.num });
      redraw();
    };
    const order = sort?.column === index && (sort.down ? "descending" : "ascending");
    const arrow = order ? (sort.down ? " ↓" : " ↑") : "";
    return el("th", { scope: "col", class: column.num && "num", "aria-sort": order },
      el("button", { type: "button", onclick: press, "data-key": `${name}-${index}` },
        column.title, arrow));
  };
  const cell = (column, row) => el("td", { class: column.num ? "num" : column.key && "key" },
    column.node ? column.node(row) : column.text(row));
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, columns.map(header))),
    el("tbody", {}, sorted.map((row) => el("tr", {}, columns.map((one) => cell(one, row)))))));
}

/// Saves text or a blob as a file.
export function save(name, type, content) {
  const link = el("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/// Rows of texts as CSV. A text that a spreadsheet would take for a formula gets an apostrophe.
export function csv(rows) {
  const field = (value) => {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : `${value}`;
    return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(field).join(",") + "\r\n").join("");
}

/// Buttons that export columns and rows of a view.
export const exports = (name, columns, rows) => [
  el("button", {
    type: "button", "data-key": `${name}-csv`, title: "Save this view as CSV",
    onclick: () => save(`${name}.csv`, "text/csv", csv([columns.map((column) => column.title),
      ...rows.map((row) => columns.map((column) => (column.raw ?? column.sort ?? column.text)(row)))])),
  }, "CSV"),
  el("button", {
    type: "button", "data-key": `${name}-json`, title: "Save this view as JSON",
    onclick: () => save(`${name}.json`, "application/json", JSON.stringify(rows, null, 2)),
  }, "JSON"),
];
