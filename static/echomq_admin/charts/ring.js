// The ring: clockwise from the top is the order of turns. Size is depth, amber dots are jobs in
// flight, lanes on the siding are out of the ring and say why. When a turn is taken every lane
// moves on by one place; three turns a second or more and it stands still and is counted.
import { chart } from "../js/live.js";
import { fade, join, mark, say, set, slide, still, svg, swing, text } from "./surface.js";
import { count } from "./words.js";

const WIDTH = 368;
const HEIGHT = 408;
const CENTRE = [184, 152];
const RADIUS = 96;
const FAST = 3;
const SLOW = 2;
const STAYS_MS = 3000;
const READ_MS = 1200;

const reach = (depth) => Math.min(22, 9.5 + Math.log2(1 + (depth ?? 0)) * 1.45);

function place(turn, of) {
  const angle = (2 * Math.PI * turn) / of - Math.PI / 2;
  return { angle, x: CENTRE[0] + RADIUS * Math.cos(angle), y: CENTRE[1] + RADIUS * Math.sin(angle) };
}

// One lane as a link to its jobs: a disc as wide as it is deep, dots for what is in flight.
function make(lane, parked) {
  const link = svg("a", { href: `?lane=${lane.key}`, "aria-label": lane.name });
  const disc = svg("circle", { class: parked ? "parked" : "lane-c" });
  link.append(svg("circle", { class: "lane-bg" }), disc, text("", { class: parked ? "mid t2" : "mid t1 depth" }));
  const group = svg("g", { class: "lanenode" }, link, svg("g", {}), text("", {}));
  return group;
}

function dots(layer, many, radius, angle) {
  join(layer, Array.from({ length: many }, (_, at) => at), (at) => at, () => svg("circle", { class: "m-active", r: 3 }), (dot, at) => {
    const turn = angle + (at - (many - 1) / 2) * (11 / (radius + 6));
    set(dot, { cx: ((radius + 5) * Math.cos(turn)).toFixed(1), cy: ((radius + 5) * Math.sin(turn)).toFixed(1) });
  });
}

function lane(group, one, at, radius, move) {
  const [link, layer, label] = group.children;
  const [ground, disc, depth] = link.children;
  const before = group.at;
  group.at = at;
  set(group, { transform: `translate(${at.x.toFixed(1)}, ${at.y.toFixed(1)})` });
  if (before) move(group.firstElementChild, before, at);
  set(ground, { r: radius + 4 });
  set(disc, { r: radius.toFixed(1) });
  set(depth, { y: 4 });
  say(depth, one.depth === null ? "?" : one.depth > 99999 ? `${Math.round(one.depth / 1000)}k` : count(one.depth));
  dots(layer, one.busy, radius, -Math.PI / 2);
  return label;
}

// Along the ring, where a chord would lead through the words within.
const round = (element, from, to) => swing(element, RADIUS, from.angle, to.angle);
const across = (element, from, to) => slide(element, from.x - to.x, from.y - to.y);
const jump = () => {};

// Of more lanes than are drawn others come near their turn all the time. While that is too fast, who
// is drawn stays so, with its last numbers, for as long as one reads a name.
function near(stage, data, fast, now) {
  const turns = new Map(data.turns.map((one) => [one.key, one]));
  if (!fast || data.inRing <= turns.size || now - stage.nearAt >= READ_MS) {
    [stage.near, stage.nearAt] = [data.turns, now];
  }
  const out = new Set(data.aside.map((one) => one.key));
  return stage.near.filter((one) => !out.has(one.key)).map((one) => turns.get(one.key) ?? one);
}

// Who stands at which place. Too fast for the eye, lanes stay where they were drawn and only their
// numbers change: one that has gone leaves its place to the next that is new.
function places(stage, data, fast) {
  const keys = data.turns.map((one) => one.key);
  const kept = fast && stage.order.filter((key) => keys.includes(key)).length * 2 >= keys.length;
  if (!kept) {
    stage.order = keys;
    stage.gap = false;
  }
  stage.gap ||= data.inRing > keys.length;
  const fresh = keys.filter((key) => !stage.order.includes(key));
  stage.order = stage.order.map((key) => (keys.includes(key) ? key : fresh.shift() ?? null));
  stage.order.push(...fresh);
  return stage.order;
}

// Where the words of a place stand: outside of the ring, on the side away from its centre.
function beside({ angle }, away) {
  const [x, y] = [Math.cos(angle), Math.sin(angle)];
  const lift = y > 0.5 ? 10 : y < -0.5 ? 0 : 4;
  const side = Math.abs(x) < 0.2 ? "mid" : x > 0 ? "" : "end";
  return { side, x: (away(side) * x).toFixed(1), y: (away(side) * y + lift).toFixed(1) };
}

// The place of those that are not drawn: the track is open there.
function rest(stage, at, more) {
  set(stage.more, { visibility: at ? "visible" : "hidden", transform: at && `translate(${at.x.toFixed(1)}, ${at.y.toFixed(1)})` });
  if (!at) return;
  const label = stage.more.lastElementChild;
  const { side, x, y } = beside(at, () => 18);
  set(label, { class: `t2 gaplabel ${side}`, x, y });
  say(label, `+ ${count(more)}`);
}

function around(stage, data, fast) {
  const order = places(stage, data, fast);
  const head = data.turns[0]?.key;
  const more = data.inRing - data.turns.length;
  const many = Math.max(1, order.length + (stage.gap ? 1 : 0));
  join(stage.nodes, data.turns, (one) => one.key, (one) => make(one, false), (group, one) => {
    const turn = order.indexOf(one.key);
    const at = place(turn, many);
    const radius = reach(one.depth);
    const label = lane(group, one, at, radius, fast ? jump : round);
    const next = !fast && one.key === head; // too fast, it was another's by now
    set(group, { class: `lanenode${next ? " is-next" : ""}` });
    // The dots of what is in flight lie on top of a disc, so a label above it stands over them.
    const { side, x, y } = beside(at, (on) => radius + (on === "mid" && at.angle < 0 && one.busy ? 16 : 9));
    set(label, { class: `tm ${side}`, x, y });
    say(label, next ? "" : one.tail);
  }, fast ? undefined : fade);
  set(stage.pointer, { visibility: head && !fast ? "visible" : "hidden" });
  rest(stage, more > 0 ? place(order.length, many) : null, more);
}

function siding(stage, data) {
  const step = Math.min(84, 336 / Math.max(1, data.aside.length));
  const left = CENTRE[0] - ((data.aside.length - 1) * step) / 2 + (data.aside.length < 4 ? 32 : 0);
  join(stage.parked, data.aside, (one) => one.key, (one) => make(one, true), (group, one) => {
    const radius = Math.min(20, reach(one.depth));
    const label = lane(group, one, { x: left + data.aside.indexOf(one) * step, y: 325 }, radius, across);
    set(label, { class: "mid", x: 0, y: 34 });
    say(label, one.why);
  }, fade);
  say(stage.out, data.aside.length ? `out of the ring${data.moreAside ? `, ${count(data.moreAside)} more` : ""}` : "no lane with work is out of the ring");
}

// How many jobs finished a second over the last two: a turn is taken for each.
function pace(stage, data, clock) {
  const now = clock.now();
  stage.taken.push([now, data.completed]);
  while (stage.taken.length > 2 && now - stage.taken[0][0] > 2000) stage.taken.shift();
  const [then, done] = stage.taken[0];
  const seconds = (now - then) / 1000;
  const known = data.completed !== null && done !== null;
  if (!known) stage.rate = null;
  else if (seconds > 0.4) stage.rate = (data.completed - done) / seconds;
}

// Whether turns go by too fast; what slows down only for a moment still does.
function quick(stage, clock) {
  const now = clock.now();
  if (stage.rate >= FAST) stage.fastAt = now;
  else if (!stage.rate || (stage.rate < SLOW && now - stage.fastAt > STAYS_MS)) stage.fastAt = -Infinity;
  return stage.fastAt > -Infinity;
}

function captions(stage, data, fast) {
  const head = data.turns[0];
  if (fast) {
    const many = Math.round(stage.rate);
    ["turns are taken", `${count(many)} ${many === 1 ? "job" : "jobs"} a second`, "too fast to draw", "the table has each"].forEach((words, at) => say(stage.say[at], words));
    return;
  }
  if (head && stage.head && head.key !== stage.head && still()) mark(null, `The next turn is that of ${head.name}`);
  stage.head = head?.key;
  say(stage.say[0], head ? (data.paused ? "the queue is paused" : "next turn") : "nobody has a turn");
  say(stage.say[1], head ? head.name : "");
  const takes = head && head.takes > 1;
  say(stage.say[2], !head ? "" : takes ? `weight ${head.takes}: takes ${count(Math.min(head.takes, head.depth ?? 0))} of its ${count(head.depth ?? 0)}` : `takes one of its ${count(head.depth ?? 0)}`);
  say(stage.say[3], head ? "then it goes to the tail" : "");
}

function stageOf(element) {
  if (element.stage) return element.stage;
  const [x, y] = CENTRE;
  const label = (cls, at, top) => text("", { class: cls, x: at, y: top });
  const stage = {
    nodes: svg("g"), parked: svg("g"), out: label("", 16, 312),
    more: svg("g", {}, svg("circle", { class: "lane-bg", r: 12 }), ...[-6, 0, 6].map((cx) => svg("circle", { class: "gapdot", cx, r: 1.5 })), text("", {})),
    taken: [], rate: null, fastAt: -Infinity, order: [], gap: false, near: [], nearAt: -Infinity,
    say: [label("mid t2", x, 128), label("mid tm big", x, 148), label("mid t2", x, 168), label("mid", x, 186)],
    pointer: svg("path", { class: "pointer", d: `M${x} 83l-7 12h14z` }),
  };
  stage.svg = svg("svg", { class: "chart", width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` },
    svg("circle", { class: "ringtrack", cx: x, cy: y, r: RADIUS }),
    svg("path", { class: "turnarrow", d: "M163 87.3A68 68 0 0 0 129 112" }),
    svg("path", { class: "turnhead", transform: "translate(129 112) rotate(126)", d: "M-1 -4.5l7 4.500-7 4.500z" }),
    svg("path", { class: "ax dashx", d: "M16 296.5H352" }),
    stage.more, stage.nodes, stage.pointer, stage.parked, stage.out,
    text("size: waiting, log", { x: 16, y: 376 }),
    svg("circle", { class: "m-active", cx: 20, cy: 390, r: 3 }), text("one job in flight", { x: 29, y: 394 }),
    ...stage.say);
  element.replaceChildren(stage.svg);
  element.stage = stage;
  return stage;
}

chart("ring", (element, data, clock) => {
  const stage = stageOf(element);
  pace(stage, data, clock);
  const fast = quick(stage, clock);
  set(stage.svg, { class: `chart${data.paused ? " is-still" : ""}` });
  around(stage, { ...data, turns: near(stage, data, fast, clock.now()) }, fast);
  siding(stage, data);
  captions(stage, data, fast);
}, { moves: true });
