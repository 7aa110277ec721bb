// A button that copies: the text that it carries, or one that it asks the console for, so that a
// page need not hold a payload twice. Where the browser gives no clipboard (a plain address that is
// not this machine) the selection's own copy serves.
import { say } from "./toasts.js";

async function asked(address) {
  const answer = await fetch(address, { headers: { Accept: "text/plain" } });
  if (!answer.ok) throw new Error((await answer.text()) || `status ${answer.status}`);
  return answer.text();
}

function bySelection(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("the browser does not let it");
}

// A long name as its address spells it; as that, too, where its bytes are no text.
function named(path) {
  const bytes = atob(path.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
  } catch {
    return path;
  }
}

export async function copy(element) {
  const { copy: text, copyName, copyFrom } = element.dataset;
  let told = "Copied";
  try {
    const found = copyFrom ? await asked(copyFrom) : copyName ? named(copyName) : text;
    if (navigator.clipboard) await navigator.clipboard.writeText(found);
    else bySelection(found);
  } catch (fault) {
    told = `Not copied: ${fault.message}`;
  }
  element.dataset.told = told;
  say(told);
  setTimeout(() => delete element.dataset.told, 2000);
}
