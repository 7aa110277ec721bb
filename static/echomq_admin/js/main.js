// Starts the parts of every page and binds their buttons: an element with data-command does what
// its name says.
import { copy } from "./copy.js";
import * as dialog from "./dialog.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import * as once from "./once.js";
import * as palette from "./palette.js";
import * as refocus from "./refocus.js";
import * as rights from "./rights.js";
import * as times from "./times.js";
import * as toasts from "./toasts.js";

const THEMES = ["dark", "light", "system"];

function theme() {
  const root = document.documentElement;
  const next = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
  root.dataset.theme = next;
  try {
    localStorage.setItem("echomq-theme", next);
  } catch {
    // Without storage the choice lasts for this page.
  }
  toasts.say(`Theme: ${next}`);
}

const commands = {
  theme,
  copy,
  palette: palette.open,
  keys: keys.help,
  reconnect: live.reconnect,
  freeze: () => toasts.say(live.freeze() ? "The view is frozen" : "The view goes on"),
  close: (element) => element.closest("dialog")?.close(),
  dismiss: (element) => toasts.dismiss(element?.closest(".toast") ?? undefined),
  toasts: toasts.all,
};

document.addEventListener("click", (event) => {
  const element = event.target.closest?.("[data-command]");
  if (element) commands[element.dataset.command]?.(element);
});

// A link that opens a dialog is a button to the ear, and so to the space bar.
document.addEventListener("keydown", (event) => {
  const verb = event.key === " " && event.target.closest?.("a[role=button]");
  if (!verb) return;
  event.preventDefault();
  verb.click();
});

// A tab that is half out of the window comes in whole when it gets the focus.
document.addEventListener("focusin", ({ target }) => {
  if (target.matches(".tabs a")) target.scrollIntoView({ inline: "nearest", block: "nearest" });
});

// Where a row of tabs or the machine of a job is wider than the window, what is now is in sight.
for (const here of document.querySelectorAll(".tabs a[aria-current], .fsm .cur")) {
  const row = here.closest(".tabs, .fsmwrap");
  const [inner, outer] = [here.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
}
times.start();
toasts.start();
dialog.start();
palette.start();
keys.start(commands);
once.start();
rights.start();
refocus.start();
live.start();
