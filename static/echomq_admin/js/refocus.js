// Where a hand with keys goes on when what it was on is gone or was turned off meanwhile: the same
// verb in the row that took the place, else the panel. Without this it would begin at the top again.

const REACHED = "a[href], button, input, select, textarea";
export const lost = () => !document.activeElement || document.activeElement === document.body;

function inside(panel, row, at, action) {
  const rows = row ? panel.querySelectorAll(row.localName === "tr" ? "tbody tr" : "li") : [];
  const next = rows[Math.min(at, rows.length - 1)];
  return next?.querySelector(`[data-action="${action}"]`) ?? next?.querySelector(REACHED);
}

// Answers a function that puts the focus back to the element, or to what stands in its place.
export function remember(element) {
  const panel = element.closest("section[id], .qhead[id]") ?? document.getElementById("main");
  const row = element.closest("tbody tr, li");
  const at = row ? [...row.parentElement.children].indexOf(row) : -1;
  const { action } = element.dataset;
  return () => {
    if (element.isConnected) {
      element.focus();
      if (!lost()) return;
    }
    const now = document.getElementById(panel.id) ?? document.getElementById("main");
    const next = inside(now, row, at, action);
    if (!next) now.tabIndex = -1;
    (next ?? now).focus({ preventScroll: !next });
  };
}

// A button is off while its request runs, and a button that is off lets go of the focus.
export function start() {
  const held = new Map();
  document.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => {
    if (elt === document.activeElement) held.set(elt, remember(elt));
  });
  document.addEventListener("htmx:afterRequest", ({ detail: { elt } }) => {
    const back = held.get(elt);
    held.delete(elt);
    if (back && lost()) back();
  });
}

// Runs a change of a panel; what had the focus in it, or what took its place, has it after.
export function keeping(panel, change) {
  const had = panel.contains(document.activeElement) ? document.activeElement : null;
  const back = had && had !== document.body ? remember(had) : null;
  const result = change();
  if (back && lost()) back();
  return result;
}
