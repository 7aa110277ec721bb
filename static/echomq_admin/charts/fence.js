// The fence: late jobs hang left of now on tethers, single jobs stack right of it, the rest is
// counted into bars. Between frames everything moves on by the server's clock.
import { chart } from "../js/live.js";
import { stood } from "../js/times.js";
import { axis } from "./axis.js";
import { ground } from "./fence_ground.js";
import { hand } from "./fence_hand.js";
import { marks } from "./fence_marks.js";
import { set, still, svg } from "./surface.js";

const NARROW = 620;
const stages = new WeakMap();

// Where the rows of the three kinds lie across the axis, and how the axis itself runs.
function layout(element, data) {
  const width = Math.max(280, Math.floor(element.clientWidth));
  const upright = width < NARROW;
  const rows = upright
    ? { delayed: [56, 0.56], retry: [0.6, 0.8], repeat: [0.84, 0.99] }
    : { delayed: [44, 156], retry: [164, 222], repeat: [230, 262] };
  const across = (value) => (value <= 1 ? value * width : value);
  for (const row of Object.values(rows)) row.splice(0, 2, across(row[0]), across(row[1]));
  const height = upright ? 380 : 304;
  const along = upright
    ? axis(data.scale, data.back, data.span, 34, height - 12)
    : axis(data.scale, data.back, data.span, 100, width - 18);
  const point = upright ? (a, c) => [c, a] : (a, c) => [a, c];
  const span = upright ? [48, width] : [28, 266];
  return { width, height, upright, rows, along, point, span };
}

const KINDS = { d: "delayed", r: "retry", p: "repeat", u: "unknown" };
const plain = (key) => atob(key.slice(1).replaceAll("-", "+").replaceAll("_", "/")).slice(0, 40);

function unpack([key, at, kind, tries, more]) {
  return { key, at, tries, kind: KINDS[kind], id: more?.id ?? plain(key), score: more?.score ?? String(at), edge: more?.edge, flag: more?.flag };
}

// How many jobs came, left or moved between two frames.
function changes(old, fresh) {
  const before = new Map(old.marks.map((one) => [one.key, one.score]));
  const moved = fresh.marks.filter((one) => before.get(one.key) !== one.score).length;
  const after = new Set(fresh.marks.map((one) => one.key));
  return moved + old.marks.filter((one) => !after.has(one.key)).length;
}

class Stage {
  constructor(element) {
    this.element = element;
    this.svg = svg("svg", { class: "chart fencechart", role: "img" });
    this.layers = Object.fromEntries(
      ["ground", "bars", "marks", "late", "over", "hand"].map((name) => [name, svg("g", { class: `l-${name}` })]),
    );
    this.svg.append(...Object.values(this.layers));
    element.replaceChildren(this.svg);
    this.held = null;
    this.waiting = 0;
    this.hand = hand(this);
    new ResizeObserver(() => this.data && this.draw(true)).observe(element);
    document.addEventListener("visibilitychange", () => this.run());
  }

  // The moment that is drawn as now: it stands while a pointer or the keys hold the chart, and at
  // the last reading while the page's numbers stand, since who crossed meanwhile is not known.
  now() {
    return this.held ?? stood() ?? this.clock.now();
  }

  aged() {
    return stood() !== null;
  }

  // Said at once: on a quiet schedule no frame would come to draw it.
  hold() {
    if (this.held !== null || !this.data) return;
    this.held = this.now();
    this.waiting = 0;
    this.draw(false);
  }

  release() {
    if (this.held === null) return;
    this.held = null;
    if (this.next) [this.data, this.next] = [this.next, null];
    this.draw(true);
  }

  take(raw, clock) {
    this.clock = clock;
    const data = { ...raw, marks: raw.marks.map(unpack) };
    if (this.held !== null && this.data) {
      this.next = data;
      this.waiting = changes(this.data, data);
      return this.draw(false);
    }
    const moved = this.data && this.data.scale + this.data.span !== data.scale + data.span;
    this.data = data;
    this.draw(true, moved);
    this.run();
  }

  draw(fresh, jump = false) {
    if (!this.data || !this.element.clientWidth) return;
    this.plan = layout(this.element, this.data);
    const { width, height } = this.plan;
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": this.sentence() });
    this.svg.classList.toggle("is-aged", this.aged());
    ground(this, fresh);
    marks(this, { jump });
    this.hand.draw();
  }

  sentence() {
    const { total, late } = this.data;
    if (!total) return "Nothing is scheduled.";
    return `Schedule on a time axis: ${late} late left of now, ${total - late} waiting right of it. The exact list follows.`;
  }

  // Twenty steps a second while something crosses or is about to, else two; none while hidden.
  run() {
    if (this.timer || document.hidden || !this.element.isConnected) return;
    const near = this.data.marks.some((one) => one.at !== null && Math.abs(one.at - this.now()) < 30000);
    this.timer = setTimeout(() => requestAnimationFrame(() => {
      this.timer = null;
      if (this.held === null) this.draw(false);
      this.run();
    }), near && !still() ? 50 : 500);
  }
}

chart("fence", (element, data, clock) => {
  if (!data) return;
  if (!stages.has(element)) stages.set(element, new Stage(element));
  stages.get(element).take(data, clock);
});
