// The one dialog of actions opens when htmx has put something into it, and is empty when closed,
// so that what it shows stays tied to what was asked.
import { lost, remember } from "./refocus.js";
import { write } from "./times.js";

const field = (dialog) =>
  dialog.querySelector(".wrong :is(input, textarea)") ?? dialog.querySelector(".typed :is(input, textarea)");

// What a field of one line holds is there to be typed over; the caret would stand before it.
function take(element) {
  element?.focus();
  if (element?.matches("input")) element.select();
}

export function start() {
  const dialog = document.getElementById("dialog");
  let back = null;
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (!dialog.open && detail.target === dialog) back = remember(detail.elt);
  });
  const follow = ({ detail }) => {
    if (detail.target !== dialog) return;
    const filled = dialog.childElementCount > 0;
    write(dialog);
    if (filled && !dialog.open) {
      dialog.showModal();
      take(document.activeElement);
    } else if (filled) take(field(dialog)); // drawn anew in its place
    else if (!filled && dialog.open) dialog.close();
  };
  document.addEventListener("htmx:afterSwap", follow);
  // An outcome that settles the matter empties the dialog beside its toast.
  document.addEventListener("htmx:oobAfterSwap", follow);
  dialog.addEventListener("close", () => {
    dialog.replaceChildren();
    if (lost()) back?.(); // the browser itself goes back to an opener that is still there
    back = null;
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
}
