// What a page does when its session or its rights are gone. The console asks each time anyhow; this
// only keeps a hand from pressing what cannot work.

const WHERE = "[data-action], #dialog form, #toasts form";

// Nobody may look any more: nothing on the page can be pressed.
export function ended() {
  document.body.dataset.ended = "";
  for (const verb of document.querySelectorAll("[data-action]")) verb.setAttribute("aria-disabled", "true");
  document.getElementById("banner-rights").hidden = true;
  document.getElementById("dialog").close();
}

// Looking goes on, with other rights: the frame that comes draws each verb by them.
export function renewed() {
  delete document.body.dataset.ended;
  document.getElementById("banner-rights").hidden = false;
}

export function start() {
  for (const name of ["click", "submit"]) {
    document.addEventListener(name, (event) => {
      if (!("ended" in document.body.dataset) || !event.target.closest?.(WHERE)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true);
  }
}
