// The list of tables, and one table with its families and regions.

import { card, dataTable, el, exports, figures, head, show } from "./dom.js";
import { bytes, number, range } from "./format.js";
import { ask, link } from "./server.js";

export async function tables(page) {
  page.system = false;
  page.update = async () => drawTables(page, await ask("tables"));
  await page.update();
}

const rates = [
  { title: "Reads/s", num: true, text: (row) => number(row.rates.reads), sort: (row) => row.rates.reads },
  { title: "Writes/s", num: true, text: (row) => number(row.rates.writes),
    sort: (row) => row.rates.writes },
];
const sizes = [
  { title: "Memory", num: true, text: (row) => bytes(row.memstore_bytes),
    sort: (row) => row.memstore_bytes },
  { title: "Files", num: true, text: (row) => number(row.store_files), sort: (row) => row.store_files },
  { title: "Size", num: true, text: (row) => bytes(row.store_file_bytes),
    sort: (row) => row.store_file_bytes },
];
const requests = [
  { title: "Reads", num: true, text: (row) => number(row.read_requests),
    sort: (row) => row.read_requests },
  { title: "Writes", num: true, text: (row) => number(row.write_requests),
    sort: (row) => row.write_requests },
];

function drawTables(page, answer) {
  const redraw = () => drawTables(page, answer);
  const shown = answer.tables.filter((table) => page.system || !table.is_system);
  const columns = [
    { title: "Table", text: (row) => row.name,
      node: (row) => el("a", { href: link("table", { name: row.name }), "data-key": `t-${row.name}` },
        row.name) },
    { title: "Families", text: (row) => row.families.join(", ") },
    { title: "State", text: (row) => row.is_in_service ? "in service" : "out of service",
      node: (row) => el("span", { class: row.is_in_service ? "tag good" : "tag warn" },
        row.is_in_service ? "in service" : "out of service") },
    { title: "Regions", num: true, text: (row) => number(row.regions), sort: (row) => row.regions },
    ...sizes, ...requests, ...rates,
    { title: "", text: () => "", raw: () => "",
      node: (row) => el("a", { href: link("rows", { table: row.name }),
        "aria-label": `Rows of ${row.name}` }, "Rows") },
  ];
  const system = el("label", { class: "check" }, el("input", {
    type: "checkbox", checked: page.system, "data-key": "system",
    onchange: (event) => { page.system = event.target.checked; redraw(); },
  }), "System tables");
  const more = answer.count > answer.tables.length
    ? `The first ${answer.tables.length} of ${answer.count} tables` : null;
  show(page.root, head("Tables", more, system, exports("tables", columns.slice(0, -1), shown)),
    card(null, dataTable("tables", columns, shown,
      "There are no tables yet. Create one at the prompt: create 'users', 'info'", redraw)));
}

export async function table(page) {
  const { name } = page.parameters;
  page.update = async () => drawTable(page, await ask("table", { name }));
  await page.update();
}

function drawTable(page, answer) {
  const redraw = () => drawTable(page, answer);
  const sum = (of) => answer.regions.reduce((all, region) => all + of(region), 0);
  const columns = [
    { title: "Keys", key: true, text: (row) => range(row.start_key, row.end_key),
      sort: (row) => row.start_key,
      node: (row) => el("a", { href: link("rows", { table: answer.name, start: row.start_key }),
        title: "Browse from this key" }, range(row.start_key, row.end_key)) },
    { title: "Region", key: true, text: (row) => row.name,
      node: (row) => el("span", { title: row.name }, row.name.slice(0, 8)) },
    { title: "Server", text: (row) => answer.servers[row.server] ?? "" },
    ...sizes, ...requests, ...rates,
  ];
  const more = answer.region_count > answer.regions.length
    ? el("p", { class: "note" }, `The first ${answer.regions.length} of ${answer.region_count} regions`)
    : null;
  show(page.root,
    head(answer.name, null,
      el("span", { class: answer.state === "ENABLED" ? "tag good" : "tag warn" },
        answer.state.toLowerCase()),
      el("a", { href: link("rows", { table: answer.name }), "data-key": "rows" }, "Browse rows"),
      el("a", { href: link("heat", { table: answer.name }), "data-key": "heat" }, "Heat map")),
    figures([
      ["Regions", number(answer.region_count)],
      ["In memory", bytes(sum((region) => region.memstore_bytes))],
      ["Files", number(sum((region) => region.store_files)),
        bytes(sum((region) => region.store_file_bytes))],
      ["Reads", number(sum((region) => region.rates.reads)), "/s"],
      ["Writes", number(sum((region) => region.rates.writes)), "/s"],
    ]),
    card("Regions", dataTable("regions", columns, answer.regions, "The table has no regions in service.",
      redraw), exports(`${answer.name}-regions`, columns, answer.regions)), more,
    el("div", { class: "grid" }, answer.families.map(family)),
    card("Attributes of the table", el("div", { class: "body" }, pairs(answer.attributes))));
}

const pairs = (map) => Object.keys(map).length === 0
  ? el("p", { class: "note" }, "None.")
  : el("dl", { class: "pairs" }, Object.entries(map).flatMap(([key, value]) =>
    [el("dt", {}, key), el("dd", { class: "mono" }, value)]));

const family = (one) => card(`Family ${one.name}`, el("div", { class: "body" },
  pairs({ ...one.attributes, ...one.configuration })));
