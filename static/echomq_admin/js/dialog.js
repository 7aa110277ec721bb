// The one dialog of actions opens when htmx has put something into it, and is empty when closed,
// so that what it shows stays tied to what was asked.
import { write } from "./times.js";

export function start() {
  const dialog = document.getElementById("dialog");
  let opener = null;
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (!dialog.open) opener = detail.elt;
  });
  const follow = ({ detail }) => {
    if (detail.target !== dialog) return;
    const filled = dialog.childElementCount > 0;
    write(dialog);
    if (filled && !dialog.open) dialog.showModal();
    else if (!filled && dialog.open) dialog.close();
  };
  document.addEventListener("htmx:afterSwap", follow);
  // An outcome that settles the matter empties the dialog beside its toast.
  document.addEventListener("htmx:oobAfterSwap", follow);
  dialog.addEventListener("close", () => {
    dialog.replaceChildren();
    const back = opener?.isConnected ? opener : opener?.id && document.getElementById(opener.id);
    if (back) back.focus();
    opener = null;
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
}
