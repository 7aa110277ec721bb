// Replaces a panel by newer markup and leaves alone what a person is in the middle of: focus,
// caret, typed text, ticked boxes, scroll, selection, open blocks, charts.
/* global Idiomorph, htmx */
import { keeping } from "./refocus.js";

function touched(field) {
  if (field === document.activeElement) return true;
  if (field.matches("select")) return [...field.options].some((one) => one.selected !== one.defaultSelected);
  if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
  return field.value !== field.defaultValue;
}

const sameMoment = (old, fresh) =>
  old.dataset.ms === fresh.dataset?.ms && old.dataset.format === fresh.dataset?.format;

const callbacks = {
  beforeNodeMorphed(old, fresh) {
    if (old.nodeType !== Node.ELEMENT_NODE) return true;
    if (old.dataset.keep !== undefined) return false;
    if (old.matches("input, textarea, select") && touched(old)) return false;
    if (old.matches("time[data-ms]") && sameMoment(old, fresh)) return false;
    if (old.matches(".age[data-at]") && fresh.matches?.(".age[data-at]")) {
      old.dataset.at = fresh.dataset.at;
      return false;
    }
    return true;
  },
  beforeAttributeUpdated(name, node) {
    return !(name === "open" && node.matches("details, dialog")) && name !== "hidden";
  },
};

export function morph(element, markup) {
  const holder = document.createElement("template");
  holder.innerHTML = markup;
  const fresh = holder.content.firstElementChild;
  if (!fresh) return null;
  const how = { morphStyle: "outerHTML", restoreFocus: true, callbacks };
  keeping(element, () => Idiomorph.morph(element, fresh, how));
  const now = document.getElementById(fresh.id) ?? element;
  if (typeof htmx !== "undefined") htmx.process(now);
  return now;
}
