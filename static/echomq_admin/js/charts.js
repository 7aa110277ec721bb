// Charts draw themselves from numbers: once from the JSON beside their element, then with every
// frame that brings newer ones. Morphing leaves their elements alone.
import { clock } from "./clock.js";

const kinds = new Map();
const moving = new Set();
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

// `draw(element, data, clock)` for every element of this kind, now and with each frame that brings
// newer numbers; with each live one, where it tells how fast they move.
export function chart(kind, draw, { moves = false } = {}) {
  kinds.set(kind, draw);
  if (moves) moving.add(kind);
  document.querySelectorAll(`[data-chart="${kind}"]`).forEach(paint);
}

// A frame's numbers by element id, and elements that a panel has only now brought.
export function redraw(data, panels) {
  const changed = new Set(Object.keys(data).filter((id) => id !== "frame"));
  for (const id of changed) held.set(id, data[id]);
  for (const panel of panels) {
    for (const element of panel.querySelectorAll("[data-chart]:empty")) changed.add(element.id);
  }
  for (const kind of data.frame.state === "live" ? moving : []) {
    for (const element of document.querySelectorAll(`[data-chart="${kind}"]`)) changed.add(element.id);
  }
  for (const id of changed) {
    const element = document.getElementById(id);
    if (element?.dataset.chart) paint(element);
  }
}
