// Charts draw themselves from numbers: once from the JSON beside their element, then with every
// frame that brings newer ones. Morphing leaves their elements alone.
import { clock } from "./clock.js";

const kinds = new Map();
const held = new Map();

function numbers(id) {
  if (!held.has(id)) {
    const beside = document.getElementById(`${id}-data`);
    if (beside) held.set(id, JSON.parse(beside.textContent));
  }
  return held.get(id);
}

function paint(element) {
  const draw = kinds.get(element.dataset.chart);
  const data = numbers(element.id);
  if (draw && data !== undefined && data !== null) draw(element, data, clock);
}

// `draw(element, data, clock)` for every element of this kind, now and with each frame.
export function chart(kind, draw) {
  kinds.set(kind, draw);
  document.querySelectorAll(`[data-chart="${kind}"]`).forEach(paint);
}

// A frame's numbers by element id, and elements that a panel has only now brought.
export function redraw(data, panels) {
  const changed = new Set(Object.keys(data).filter((id) => id !== "frame"));
  for (const id of changed) held.set(id, data[id]);
  for (const panel of panels) {
    for (const element of panel.querySelectorAll("[data-chart]:empty")) changed.add(element.id);
  }
  for (const id of changed) {
    const element = document.getElementById(id);
    if (element?.dataset.chart) paint(element);
  }
}
