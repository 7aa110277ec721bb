// Toasts leave after eight seconds, not while a pointer or the focus is on them. `say` speaks to
// those who do not see.

const STAY = 8000;

export function say(text) {
  const said = document.getElementById("said");
  if (said) said.textContent = text;
}

// A toast of the page's own, for what no answer of the console tells. `glyph` is one of the sprite.
export function tell(glyph, title, text) {
  const toast = document.createElement("div");
  toast.className = "toast";
  toast.setAttribute("role", "status");
  const icon = document.querySelector("#toasts-own").content.cloneNode(true);
  icon.querySelector("use").setAttribute("href", `#i-${glyph}`);
  icon.querySelector("b").textContent = title;
  icon.querySelector("p").textContent = text;
  toast.append(icon);
  document.getElementById("toasts").append(toast);
  return toast;
}

function unanswered({ detail }) {
  const acts = detail.requestConfig?.verb === "post";
  const toast = tell("unknown", acts ? "Outcome unknown" : "No answer", acts
    ? "The console did not answer: it may have happened. Look before you repeat; the audit tells more."
    : "The console did not answer. Try again.");
  if (acts) toast.dataset.outcome = "unknown";
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

export function start() {
  const place = document.getElementById("toasts");
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) if (node.classList?.contains("toast")) arm(node);
    }
  }).observe(place, { childList: true });
  document.addEventListener("htmx:sendError", unanswered);
  document.addEventListener("htmx:timeout", unanswered);
}
