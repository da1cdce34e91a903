// Pages, the theme, and requests to the server.

import { el, failure, show } from "./dom.js";
import { heat } from "./heat.js";
import { overview } from "./overview.js";
import { table, tables } from "./tables.js";
import { prompt } from "./prompt.js";
import { rows } from "./rows.js";

const main = document.getElementById("main");
const health = document.getElementById("health");
const PERIOD = 5000;

// The token comes in the part of the address that browsers do not send, and does not stay there.
const given = /^#token=([0-9a-f]{32})$/.exec(location.hash);
if (given) {
  sessionStorage.setItem("token", given[1]);
  history.replaceState(null, "", "#/overview");
}

export const token = {
  get: () => sessionStorage.getItem("token") ?? "",
  set: (text) => sessionStorage.setItem("token", text.trim()),
};

async function answerOf(response) {
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    const error = new Error(answer.error ?? `the server answered ${response.status}`);
    error.status = response.status;
    throw error;
  }
  return answer;
}

/// Asks for something that changes nothing.
export async function ask(call, parameters = {}) {
  const query = new URLSearchParams(
    Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined));
  let response;
  try {
    response = await fetch(`api/${call}?${query}`);
  } catch {
    throw new Error("the server does not answer");
  }
  return answerOf(response);
}

/// Asks for something that needs the token.
export async function change(call, body) {
  const headers = { "Content-Type": "application/json", "X-Hblite-Token": token.get() };
  return answerOf(await fetch(`api/${call}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

export const link = (page, parameters = {}) => {
  const query = new URLSearchParams(
    Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined)).toString();
  return `#/${page}${query && `?${query}`}`;
};

const PAGES = { overview, tables, table, rows, heat, prompt };
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
    main.replaceChildren(root);
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

export function target(answer) {
  const kind = { store: "store", server: "server of", cluster: "cluster" }[answer.mode];
  const place = document.getElementById("target");
  place.textContent = `${kind} ${answer.name}`;
  place.title = answer.name;
}

addEventListener("hashchange", open);
setInterval(update, PERIOD);
await open();
ask("overview").then(target, () => {});
