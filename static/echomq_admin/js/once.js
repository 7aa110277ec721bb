// One press is one act. A frame may put another row, or the opposite verb, under a pointer that is
// still pressing, and a row that goes hands its focus to the next: a second press that follows at
// once and would be another act than the first is not taken.
import { say } from "./toasts.js";

const VERB = "[data-action], #dialog [type=submit], #toasts [type=submit]";
const AT_ONCE_MS = 500;
const NEAR_PX = 12;
let last = null;

function press(event, verb) {
  const { action } = verb.dataset;
  const act = verb.form?.elements.request_id?.value ?? verb.getAttribute("hx-vals") ?? verb.getAttribute("href");
  return { at: event.timeStamp, byKey: event.detail === 0, x: event.clientX, y: event.clientY, action, act };
}

// By keys the place is that of the focus, and only the same verb of another row is a slip.
function slips(now) {
  if (!last || now.at - last.at > AT_ONCE_MS || now.byKey !== last.byKey) return false;
  const same = now.action === last.action && now.act === last.act;
  if (now.byKey) return !same && Boolean(now.action) && now.action === last.action;
  return !same && Math.hypot(now.x - last.x, now.y - last.y) <= NEAR_PX;
}

function stop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

export function start() {
  document.addEventListener("click", (event) => {
    const verb = event.isTrusted && event.target.closest?.(VERB);
    if (!verb) return;
    const now = press(event, verb);
    if (!slips(now)) {
      last = now;
      return;
    }
    last.at = now.at;
    stop(event);
    say("Pressed again at once: taken once");
  }, true);
  // A key that is held down presses on and on.
  document.addEventListener("keydown", (event) => {
    const held = event.repeat && { Enter: `${VERB}, #dialog input`, " ": "[data-action]" }[event.key];
    if (held && event.target.matches?.(held)) stop(event);
  }, true);
}
