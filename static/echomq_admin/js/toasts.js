// Toasts leave after eight seconds, not while a pointer or a hand with keys is on them. The newest
// stands first, few are shown at once and the rest is counted. `say` speaks to those who do not see.
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
  const toast = tell("unknown", "Outcome unknown", why, name);
  toast.dataset.outcome = "unknown";
  repeat(detail.elt, toast);
}

// What a dialog is told while it stays open it tells itself: a toast lies under its scrim, where
// little is seen and nothing is heard.
function repeat(form, toast) {
  if (!toast || !form.isConnected || !form.matches("#dialog form")) return;
  const note = document.createElement("p");
  note.className = "note2 refusal told";
  note.setAttribute("role", "alert");
  const words = document.createElement("span");
  words.textContent = `${toast.querySelector("b").textContent}. ${toast.querySelector("p + p").textContent}`;
  note.append(toast.querySelector(".i").cloneNode(true), words);
  form.querySelector(".told")?.remove();
  form.querySelector("footer").before(note);
}

const keyed = (toast) => toast.matches(":has(:focus-visible)");

function arm(toast) {
  let timer = 0;
  let over = false;
  const wait = ({ type } = {}) => {
    if (type?.startsWith("pointer")) over = type === "pointerenter";
    clearTimeout(timer);
    timer = setTimeout(() => ((over && !toast.hidden) || keyed(toast) ? wait() : toast.remove()), STAY);
  };
  for (const name of ["pointerenter", "pointerleave", "focusin", "focusout"]) toast.addEventListener(name, wait);
  wait();
}

// Few at once, since whoever acts on a list goes on pressing beside them; all where that is asked.
function arrange() {
  const toasts = [...place.querySelectorAll(".toast")];
  if (!toasts.length) delete place.dataset.all;
  const most = "all" in place.dataset ? Infinity : narrow.matches ? SHOWN_ON_A_PHONE : SHOWN;
  toasts.forEach((toast, at) => (toast.hidden = at >= most && !keyed(toast)));
  const left = toasts.filter((toast) => toast.hidden).length;
  const rest = document.getElementById("toasts-rest");
  rest.hidden = !left;
  rest.querySelector("span").textContent = `${left} earlier`;
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
  place.addEventListener("focusout", () => setTimeout(arrange));
  document.addEventListener("htmx:afterRequest", ({ detail: { elt, xhr } }) => xhr.status && repeat(elt, place.querySelector(".toast")));
  document.addEventListener("htmx:sendError", unanswered);
  document.addEventListener("htmx:timeout", unanswered);
}
