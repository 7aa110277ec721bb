// Toasts leave after eight seconds, not while a pointer or the focus is on them. `say` speaks to
// those who do not see.

const STAY = 8000;

export function say(text) {
  const said = document.getElementById("said");
  if (said) said.textContent = text;
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
}
