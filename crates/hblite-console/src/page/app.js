// Opens and updates pages, and sets the theme.

import { el, failure, show } from "./dom.js";
import { heat } from "./heat.js";
import { overview, target } from "./overview.js";
import { table, tables } from "./tables.js";
import { prompt } from "./prompt.js";
import { rows } from "./rows.js";
import { ask } from "./server.js";

const main = document.getElementById("main");
const health = document.getElementById("health");
const PERIOD = 5000;

const PAGES = { overview, tables, table, rows, heat, prompt };
const TITLES = { overview: "Overview", tables: "Tables", rows: "Rows", heat: "Heat map",
  prompt: "Prompt" };
let current = null;

/// Opens the page that the address names. A page draws itself into `root`, and again on `update`.
async function open() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const name = Object.hasOwn(PAGES, path) ? path : "overview";
  const parameters = Object.fromEntries(new URLSearchParams(query ?? ""));
  const tab = { table: "tables", rows: "tables" }[name] ?? name;
  for (const anchor of document.querySelectorAll("nav a")) {
    if (anchor.getAttribute("href") === `#/${tab}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  current?.close?.();
  const root = el("div", {});
  const page = { root, parameters, update: null, isOpen: true };
  page.close = () => { page.isOpen = false; };
  current = page;
  document.documentElement.dataset.page = "";
  try {
    await PAGES[name](page);
  } catch (error) {
    if (page.isOpen) show(root, failure(error.message));
  }
  if (page.isOpen) {
    const of = parameters.name ?? parameters.table;
    document.title = [of, TITLES[name], "hblite"].filter(Boolean).join(" · ");
    show(main, root);
    scrollTo(0, 0);
    document.documentElement.dataset.page = name;
  }
}

async function update() {
  const page = current;
  if (document.hidden || !page?.update) return;
  try {
    await page.update();
    health.textContent = "";
    health.className = "";
  } catch (error) {
    health.textContent = error.message;
    health.className = "bad";
  }
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  document.getElementById("theme").textContent = name === "dark" ? "Light theme" : "Dark theme";
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = () => localStorage.getItem("hblite-theme") ?? (dark.matches ? "dark" : "light");
theme(chosen());
dark.addEventListener("change", () => { theme(chosen()); current?.redraw?.(); });
document.getElementById("theme").addEventListener("click", () => {
  localStorage.setItem("hblite-theme", chosen() === "dark" ? "light" : "dark");
  theme(chosen());
  current?.redraw?.();
});

// The address names the page, so this link must not change it.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", open);
setInterval(update, PERIOD);
await open();
ask("overview").then(target, () => {});
