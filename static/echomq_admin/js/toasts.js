// Toasts leave after eight seconds, not while a pointer or the focus is on them. The newest stands
// first, few are shown at once and the rest is counted. `say` speaks to those who do not see.
import { lost, remember } from "./refocus.js";

const STAY = 8000;
const SHOWN = 2;
const SHOWN_ON_A_PHONE = 1;
const NAME = 28;
const narrow = matchMedia("(max-width: 720px)");
let place = null;
let back = null;

export function say(text) {
  const said = document.getElementById("said");
  if (said) said.textContent = text;
}

// A name as the console sends it, `~` and base64url, cut in the middle where it is long.
function named(raw) {
  if (!raw?.startsWith("~")) return "";
  const bytes = Uint8Array.from(atob(raw.slice(1).replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  const letters = [...new TextDecoder().decode(bytes).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "·")];
  const head = Math.floor((NAME - 1) / 2);
  if (letters.length > NAME) letters.splice(head, letters.length - NAME + 1, "…");
  return letters.join("");
}

// A toast of the page's own, for what no answer of the console tells. `glyph` is one of the sprite.
function tell(glyph, title, text, name) {
  const toast = document.createElement("div");
  toast.className = "toast";
  toast.setAttribute("role", "status");
  const icon = document.querySelector("#toasts-own").content.cloneNode(true);
  icon.querySelector("use").setAttribute("href", `#i-${glyph}`);
  icon.querySelector("b").textContent = title;
  icon.querySelector("bdi").textContent = name;
  icon.querySelector("p + p").textContent = text;
  toast.append(icon);
  place.prepend(toast);
  return toast;
}

function unanswered({ detail }) {
  const { verb, parameters = {} } = detail.requestConfig ?? {};
  const name = named(parameters.item || parameters.game || parameters.queue);
  if (verb !== "post") return tell("unknown", "No answer", "The console did not answer. Try again.", name);
  const why = "The console did not answer: it may have happened. Look before you repeat; the audit tells more.";
  tell("unknown", "Outcome unknown", why, name).dataset.outcome = "unknown";
}

function arm(toast) {
  let timer = 0;
  const leave = () => {
    timer = setTimeout(() => toast.remove(), STAY);
  };
  const stay = () => clearTimeout(timer);
  toast.addEventListener("pointerenter", stay);
  toast.addEventListener("focusin", stay);
  toast.addEventListener("pointerleave", leave);
  toast.addEventListener("focusout", leave);
  leave();
}

// Few at once, since whoever acts on a list goes on pressing beside them; all where that is asked.
function arrange() {
  const toasts = [...place.querySelectorAll(".toast")];
  if (!toasts.length) delete place.dataset.all;
  const most = "all" in place.dataset ? Infinity : narrow.matches ? SHOWN_ON_A_PHONE : SHOWN;
  toasts.forEach((toast, at) => (toast.hidden = at >= most));
  const rest = document.getElementById("toasts-rest");
  rest.hidden = toasts.length <= most;
  rest.querySelector("span").textContent = `${toasts.length - most} earlier`;
}

export function all() {
  place.dataset.all = "";
  arrange();
  place.querySelector(".toast [data-command=dismiss]")?.focus();
}

// By a key the one that has the focus, else the newest; answers whether there was one. A hand with
// keys goes on where it came from.
export function dismiss(toast = document.activeElement.closest(".toast") ?? place.querySelector(".toast")) {
  const within = toast?.contains(document.activeElement);
  toast?.remove();
  if (within && lost()) (back ?? (() => document.getElementById("main").focus({ preventScroll: true })))();
  return Boolean(toast);
}

export function start() {
  place = document.getElementById("toasts");
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) if (node.classList?.contains("toast")) arm(node);
    }
    arrange();
  }).observe(place, { childList: true });
  narrow.addEventListener("change", arrange);
  place.addEventListener("focusin", ({ relatedTarget }) => {
    if (relatedTarget && !place.contains(relatedTarget)) back = remember(relatedTarget);
  });
  document.addEventListener("htmx:sendError", unanswered);
  document.addEventListener("htmx:timeout", unanswered);
}
