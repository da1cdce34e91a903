// A prompt for the commands of the shell.

import { card, el, head, save, show } from "./dom.js";
import { duration } from "./format.js";
import { ask, change, token } from "./server.js";

/// Maximum number of entries on the page.
const ENTRIES_MAX = 200;
const entries = [];
const past = [];
let draft = "";

export async function prompt(page) {
  const log = el("div", { class: "terminal", role: "log", "aria-label": "Output", tabindex: "0" });
  const line = el("textarea", {
    rows: 2, "aria-label": "Command", "data-key": "line", spellcheck: "false", autocomplete: "off",
    autocapitalize: "off", placeholder: "scan 'users', {LIMIT => 10}",
  });
  const run = el("button", { class: "main", type: "button" }, "Run");
  const stop = el("button", { type: "button", disabled: true }, "Stop");
  const state = { page, log, line, run, stop, id: null, at: past.length };
  line.value = draft;
  line.addEventListener("input", () => { draft = line.value; });
  line.addEventListener("keydown", (event) => press(state, event));
  run.addEventListener("click", () => execute(state));
  stop.addEventListener("click", () => halt(state));
  const names = (await ask("commands")).commands;
  const clear = () => { entries.length = 0; draw(state); };
  show(page.root,
    head("Prompt", "The language of HBase's shell. Each entry runs separately: a variable lasts as "
      + "long as its entry."),
    token.get() === "" && tokenForm(page),
    el("section", { class: "card" }, log, el("div", { class: "entry" }, line,
      el("div", { class: "actions" }, run, stop))),
    el("div", { class: "head" }, el("p", {}, "Enter runs, Shift+Enter starts a new line, ↑ and ↓ "
      + "recall, Esc stops. Output ends after 256 KiB, a command after 60 seconds."),
    el("div", { class: "actions" },
      el("button", { type: "button", "data-key": "clear", onclick: clear }, "Clear"),
      el("button", { type: "button", "data-key": "save", onclick: () =>
        save("hblite-prompt.txt", "text/plain", entries.map((entry) => entry.text).join("\n")) },
      "Save as text"))),
    card("Commands", el("div", { class: "body chips" }, names.map((name) => el("button", {
      type: "button", "data-key": `command-${name}`, class: "mono", title: `Help for ${name}`,
      onclick: () => { line.value = `help '${name}'`; execute(state); },
    }, name)))));
  page.close = () => { page.isOpen = false; if (state.id) halt(state); };
  draw(state);
}

function tokenForm(page) {
  const entered = el("input", { type: "password", name: "token", autocomplete: "off",
    "data-key": "token" });
  return card("Token", el("form", { class: "body bar", onsubmit: (event) => {
    event.preventDefault();
    token.set(entered.value);
    prompt(page);
  } }, el("label", { class: "field wide" }, el("span", {},
    "console_token, from the line that hblite printed at its start or its port file"), entered),
  el("div", { class: "buttons" }, el("button", { class: "main", type: "submit" }, "Use"))));
}

function draw({ log }) {
  show(log, entries.length === 0
    ? el("p", { class: "faint" }, "Output appears here. Try: list")
    : entries.map((entry) => el("pre", { class: entry.kind }, entry.text)));
  log.scrollTop = log.scrollHeight;
}

function add(state, kind, text) {
  if (text === "") return;
  entries.push({ kind, text });
  entries.splice(0, entries.length - ENTRIES_MAX);
  draw(state);
}

function press(state, event) {
  const { line } = state;
  const isPlain = !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey;
  const lines = line.value.split("\n");
  const at = line.value.slice(0, line.selectionStart).split("\n").length;
  if (event.key === "Enter" && isPlain && !event.isComposing) execute(state);
  else if (event.key === "ArrowUp" && isPlain && at === 1) recall(state, -1);
  else if (event.key === "ArrowDown" && isPlain && at === lines.length) recall(state, 1);
  else if (event.key === "Escape" && state.id) halt(state);
  else return;
  event.preventDefault();
}

function recall(state, step) {
  state.at = Math.max(0, Math.min(past.length, state.at + step));
  state.line.value = past[state.at] ?? "";
}

async function execute(state) {
  const source = state.line.value.trim();
  if (source === "" || state.id) return;
  state.id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  state.run.disabled = true;
  state.stop.disabled = false;
  try {
    const answer = await change("run", { id: state.id, source });
    if (answer.outcome === "incomplete") {
      add(state, "warn", "The command is not complete: brackets or quotes are open.");
      return;
    }
    past.push(source);
    add(state, "command", source);
    state.line.value = draft = "";
    add(state, answer.outcome === "failed" ? "bad" : "plain", answer.output.trimEnd());
    if (answer.is_truncated) add(state, "warn", "The output was cut after 256 KiB; set a LIMIT.");
    if (answer.is_late) add(state, "warn", "The command was stopped after 60 seconds.");
    if (answer.is_stopped) add(state, "warn", `Stopped after ${duration(answer.took_ms)}.`);
  } catch (error) {
    add(state, "bad", error.message);
    if (error.status === 401) {
      token.set("");
      const form = tokenForm(state.page);
      state.page.root.querySelector(".head").after(form);
      form.querySelector("input").focus();
    }
  } finally {
    state.id = null;
    state.at = past.length;
    state.run.disabled = false;
    state.stop.disabled = true;
    // A button that was disabled has lost the focus.
    if (document.activeElement === document.body) state.line.focus();
  }
}

async function halt(state) {
  try {
    await change("stop", { id: state.id });
  } catch (error) {
    add(state, "bad", error.message);
  }
}
