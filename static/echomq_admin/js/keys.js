// Shortcuts: one registry feeds both the keyboard and the help panel. Letters mean nothing while
// somebody types or a dialog is open.
import { still } from "./live.js";

const shortcuts = new Map();
const WAIT = 1200;
let prefix = "";
let timer = 0;

// `keys` is one key ("r", "?", "/") or a prefix and a key ("g s"). An `act` that answers false
// has not used the key.
export function shortcut(keys, words, act) {
  shortcuts.set(keys, { words, act });
}

const typing = (element) =>
  element?.matches?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

function press(event) {
  const used = shortcuts.get(prefix ? `${prefix} ${event.key}` : event.key);
  const starts = [...shortcuts.keys()].some((keys) => keys.startsWith(`${event.key} `));
  clearTimeout(timer);
  if (used && used.act(event) !== false) event.preventDefault();
  else if (!prefix && starts) {
    prefix = event.key;
    timer = setTimeout(() => (prefix = ""), WAIT);
    return;
  }
  prefix = "";
}

function caps(keys) {
  return keys.split(" ").map((key) => {
    const cap = document.createElement("kbd");
    cap.textContent = key === " " ? "Space" : key.length === 1 ? key.toUpperCase() : key;
    return cap;
  });
}

// Keys that a chart of this page takes while it has the focus: "keys: words", parted by ";".
function taught() {
  return [...document.querySelectorAll("[data-keys]")].flatMap((chart) =>
    chart.dataset.keys.split(";").map((line) => {
      const [keys, words] = line.split(":");
      return [keys.trim(), { words: words.trim() }];
    }));
}

export function help() {
  const list = document.getElementById("keys-list");
  list.replaceChildren();
  const rows = [["Ctrl k", { words: "Find anything" }], ...shortcuts, ...taught()];
  for (const [keys, { words }] of rows) {
    const row = document.createElement("li");
    const word = document.createElement("span");
    word.textContent = words;
    row.append(word, ...(keys === " " ? caps("Space") : caps(keys)));
    list.append(row);
  }
  document.getElementById("keys").showModal();
}

function follow(key) {
  const link = document.querySelector(`.tabs a[data-key="${key}"]`);
  if (!link) return false;
  link.click();
  return true;
}

export function start(commands) {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      commands.palette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    press(event);
  });
  shortcut("?", "All keys", help);
  shortcut("/", "Filter", () => {
    const field = document.querySelector("[data-filter]");
    field?.focus();
    return Boolean(field);
  });
  for (const link of document.querySelectorAll(".tabs a[data-key]")) {
    const words = `Go to ${link.textContent.trim().split("\n")[0].replace(/[\d,≥ ]+$/, "")}`;
    shortcut(`g ${link.dataset.key}`, words, () => follow(link.dataset.key));
  }
  shortcut("g o", "Go to Overview", () => document.querySelector(".brand").click());
  shortcut("t", "Switch theme", commands.theme);
  shortcut("Escape", "Dismiss the newest message", () => !document.querySelector(":popover-open") && commands.dismiss());
  if (still) return; // nothing on this page moves
  shortcut(" ", "Freeze the view", (event) => {
    if (event.target !== document.body && !event.target.matches?.("main")) return false;
    commands.freeze();
    return true;
  });
}
