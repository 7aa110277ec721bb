// Where the words of late marks stand: in the first place beside the mark where no mark, tether,
// word or the fence itself is in the way; where there is none, the mark stays without.
import { span } from "./words.js";

const LABELS = 4;
const LETTER = 6.6;
const HALO = 8;

const apart = (one, other) => one[2] <= other[0] || other[2] <= one[0] || one[3] <= other[1] || other[3] <= one[1];
const box = (x1, y1, x2, y2) => [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];

// Places in the order in which they are tried: attributes, and the box from the mark's middle.
function places(plan, width) {
  const above = { at: { x: -4, y: -12 }, box: [-4, -22, width - 4, -9] };
  if (plan.upright) return [{ at: { x: 12, y: 4 }, box: [12, -7, 12 + width, 6] }, above];
  return [{ at: { x: -13, y: 4 }, end: true, box: [-13 - width, -7, -13, 6] }, above];
}

// The name and number of each row, left of the axis.
const names = (plan) => Object.values(plan.rows).map(([, high]) => [0, high - 28, plan.along.low - 4, high + 5]);

function taken(plan, late) {
  const { now, low } = plan.along;
  const flag = plan.upright ? [plan.width - 104, now - 10, plan.width, now + 10] : [now - 52, 6, now + 52, 26];
  const frame = plan.upright
    ? [[0, 0, plan.width, low - 2], [0, now - 2, plan.width, plan.height], [plan.width, 0, Infinity, plan.height], [0, 0, plan.span[0], plan.height]]
    : [[0, 0, plan.width, 24], [now - 2, 0, plan.width, plan.height], [-Infinity, 0, 8, plan.height], ...names(plan)];
  const marks = late.map((one) => {
    const [x, y] = plan.point(one.a, one.c);
    return { key: one.key, boxes: [[x - HALO, y - HALO, x + HALO, y + HALO], box(x - 1, y - 1, ...plan.point(now, one.c).map((to) => to + 1))] };
  });
  return { frame: [...frame, flag], marks };
}

function wanted(list, row) {
  const late = list.filter((one) => one.row === row && one.late).sort((left, right) => left.t - right.t);
  return row === "delayed" || late.length < 6 ? late.slice(0, LABELS) : [];
}

export function label(plan, list) {
  for (const one of list) one.label = null;
  const late = list.filter((one) => one.late);
  const { frame, marks } = taken(plan, late);
  for (const row of ["delayed", "retry"]) {
    wanted(list, row).forEach((one, index) => {
      if (one.t === -Infinity && !one.flag) return;
      const worst = row === "delayed" && index === 0;
      const words = one.flag === "seconds" ? "looks like seconds" : span(one.t) + (worst ? " late" : "");
      const [x, y] = plan.point(one.a, one.c);
      const others = [...frame, ...marks.flatMap((mark) => (mark.key === one.key ? [] : mark.boxes))];
      for (const place of places(plan, words.length * LETTER)) {
        const [x1, y1, x2, y2] = place.box;
        const here = [x + x1, y + y1, x + x2, y + y2];
        if (!others.every((other) => apart(here, other))) continue;
        frame.push(here);
        one.label = { words, attributes: { class: `${worst ? "t1" : "t2"}${place.end ? " end" : ""}`, ...place.at } };
        return;
      }
    });
  }
}
