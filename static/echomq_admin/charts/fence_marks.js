// One mark, one job. A mark keeps its element while its job is seen, so that it is one and the
// same that crosses the fence, turns to strong ink, and fades where it stood when promoted.
import { label } from "./fence_labels.js";
import { fade, glyph, join, mark, say, set, slide, still, svg, text } from "./surface.js";
import { span } from "./words.js";

const CELL = 9;

// Stacks: each mark takes the lowest level that is free where it stands.
function levels(list, cell) {
  const ends = [];
  for (const one of list) {
    let level = ends.findIndex((end) => one.a - end >= cell);
    if (level < 0) level = ends.push(0) - 1;
    ends[level] = one.a;
    one.level = level;
  }
}

function placed(stage) {
  const { plan, data } = stage;
  const now = stage.now();
  const far = { past: -Infinity, future: Infinity };
  return data.marks.map((one) => {
    const t = one.at === null ? far[one.edge] : one.at - now;
    const odd = !plan.along.holds(t);
    return { ...one, t, late: t <= 0, clipped: odd, a: plan.along.at(t), row: one.kind === "retry" ? "retry" : "delayed" };
  }).filter((one) => (one.late || !one.clipped) && !data.hide?.includes(one.kind));
}

function across(plan, list) {
  for (const row of ["delayed", "retry"]) {
    const [low, high] = plan.rows[row];
    const waiting = list.filter((one) => one.row === row && !one.late).sort((left, right) => left.a - right.a);
    levels(waiting, CELL);
    const room = Math.floor((high - low) / CELL);
    for (const one of waiting) {
      one.over = one.level >= room;
      const depth = 6 + Math.min(one.level, room - 1) * CELL;
      one.c = plan.upright ? low + depth : high - depth;
    }
    const late = list.filter((one) => one.row === row && one.late).sort((left, right) => left.t - right.t);
    const step = Math.min(26, (high - low - 16) / Math.max(1, late.length - 1));
    late.forEach((one, at) => {
      const depth = step >= 4 ? at * step : (at * 7.7) % (high - low - 16);
      one.c = plan.upright ? low + 18 + depth : low + 10 + depth;
    });
  }
}

function make(one) {
  const body = svg("g", { class: "body" }, svg("circle", { class: "haloc", r: 9 }), glyph(one.kind === "retry" ? "retry" : "circle", 4.1, { class: "face" }), svg("path", { class: "clip", d: "M-11 -4L-15 0L-11 4" }));
  const group = svg("g", { class: "mark", "data-mark": one.key }, svg("path", { class: "tether" }), body, svg("circle", { class: "hit", r: 12 }), text("", {}));
  group.body = body;
  return group;
}

function update(plan, group, one, jump) {
  const [x, y] = plan.point(one.a, one.c);
  const [tether, body, hit, words] = group.children;
  const was = group.was;
  const moved = was && was.score !== one.score;
  set(group, { transform: `translate(${x.toFixed(2)}, ${y.toFixed(2)})`, class: `mark${one.late ? " is-late" : ""}${one.clipped ? " is-clipped" : ""}${one.flag ? " is-odd" : ""}${one.over ? " is-over" : ""}` });
  const reach = plan.along.now - one.a;
  const [dx, dy] = plan.point(reach, 0);
  set(tether, { d: one.late ? `M0 0L${dx.toFixed(2)} ${dy.toFixed(2)}` : null });
  if (was && !jump && was.upright === plan.upright) {
    const [wx, wy] = plan.point(moved ? was.a : one.a, was.c);
    if (moved || Math.abs(was.c - one.c) > 1) slide(body, wx - x, wy - y, moved ? 320 : 160, moved ? `${one.id} was moved` : "");
  }
  if (was && one.late && !group.one.late && still()) mark(group, `${one.id} is due`);
  say(words, one.label?.words ?? "");
  if (one.label) set(words, one.label.attributes);
  group.was = { a: one.a, c: one.c, score: one.score, upright: plan.upright };
  group.one = one;
}

function repeats(stage, layer) {
  const { plan, data } = stage;
  const now = stage.now();
  const [low, high] = plan.rows.repeat;
  const middle = (low + high) / 2 + (plan.upright ? 0 : 4);
  const shown = data.hide?.includes("repeat") ? [] : data.repeats;
  const runs = shown.flatMap((one) => one.runs.map((at, index) => ({ ...one, at, index }))).filter((run) => plan.along.holds(run.at - now)).sort((left, right) => left.at - right.at);
  let last = -Infinity;
  const ends = runs.map((run) => plan.along.at(run.at - now));
  runs.forEach((run, at) => { run.next = ends[at + 1] ?? Infinity; });
  join(layer, runs, (run) => `${run.name} ${run.index}`, () => svg("g", {}, glyph("repeat", 4.2, {}), text("", { class: "t2" }), svg("title", {})), (group, run) => {
    const a = plan.along.at(run.at - now);
    const [x, y] = plan.point(a, middle);
    set(group, { transform: `translate(${x.toFixed(2)}, ${y.toFixed(2)})` });
    set(group.children[0], { class: run.index ? "hollow" : run.at <= now ? "m-hot" : "m-scheduled" });
    const room = run.name.length * 6.5 + 24;
    const left = a - room > Math.max(last, plan.along.now);
    const named = !run.index && !plan.upright && (left || (a - last > 20 && run.next - a > room));
    if (!plan.upright) last = Math.max(last, named && !left ? a + room : a + 8);
    say(group.children[1], named ? run.name : "");
    set(group.children[1], { class: left ? "t2 end" : "t2", x: left ? -11 : 11, y: 4 });
    say(group.children[2], `${run.name}, in ${span(run.at - now)}`);
  });
}

export function marks(stage, { jump = false } = {}) {
  const { plan, data, layers } = stage;
  const list = placed(stage);
  across(plan, list);
  label(plan, list);
  join(layers.marks, list, (one) => one.key, make, (group, one) => update(plan, group, one, jump), fade);
  stage.placed = list;
  repeats(stage, (layers.late.repeats ??= layers.late.appendChild(svg("g"))));
  const crowd = data.crowd ? [data.crowd] : [];
  join((layers.late.crowd ??= layers.late.appendChild(svg("g"))), crowd, () => "crowd", () => text("", { class: "t1" }), (element, one) => {
    const [x, y] = plan.point(plan.along.at(one.at - stage.now()), plan.upright ? plan.rows.delayed[1] : plan.rows.delayed[0]);
    say(element, `+${one.n.toLocaleString("en-US")} at that moment`);
    set(element, { x: x + 8, y: y + 2 });
  });
}
