// The curve of a policy: steps, the band that jitter may draw from, its mean; policy B dashed; and
// every job that waits, between what is left of its wait and the longest it can have been given.
import { chart } from "../js/live.js";
import { glyph, join, say, set, svg, text } from "./surface.js";
import { span } from "./words.js";
import { way } from "./way.js";

const NOTCHES = [100, 300, 1000, 3000, 10000, 30000, 60000, 300000, 900000, 3600000, 21600000, 86400000, 604800000];
const HEIGHT = 316;
const FLOOR = 276;
const LEFT = 64;
const MISFIT = { above: "; above the curve", below: "; below the curve", spent: "; no try is left under A" };
const states = new WeakMap();

// Where a job stands within its column: by its name, so that it stays.
function aside(key) {
  let hash = 2166136261;
  for (const letter of key) hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519);
  return ((hash ^ (hash >>> 13)) >>> 0) / 4294967296 - 0.5;
}

function scale(data) {
  const tops = [...data.a.steps, ...data.b.steps].map((step) => step.top);
  for (const job of data.jobs ?? []) tops.push(Math.min(job.most ?? 0, 604800000));
  const most = NOTCHES.find((notch) => notch > Math.max(1000, ...tops)) ?? 604800000;
  const least = Math.min(100, ...tops.filter((top) => top > 0).map((top) => top / 4));
  const unit = (FLOOR - 40) / (Math.log10(most) - Math.log10(least));
  const y = (ms) => FLOOR - (Math.log10(Math.min(most, Math.max(least, ms))) - Math.log10(least)) * unit;
  return { y, notches: NOTCHES.filter((notch) => notch >= least && notch <= most) };
}

function steps(list, column, width, y) {
  return list.map((step, at) => `${at ? "L" : "M"}${column(step.n)} ${y(step.top)}H${column(step.n) + width}`).join("");
}

function ground(layer, data, plan) {
  const { y, column, width } = plan;
  const parts = [];
  for (const notch of plan.notches) {
    parts.push(svg("path", { class: "gridl", d: `M${LEFT} ${y(notch)}H${plan.right}` }), text(span(notch).replace(".0", ""), { class: "end", x: LEFT - 8, y: y(notch) + 4 }));
  }
  parts.push(text("wait before the next try, log", { class: "t2", x: LEFT, y: 16 }));
  for (const { n, top } of data.a.steps) {
    const x = column(n);
    if (data.a.jitter) {
      const band = (high, low, name) => svg("rect", { class: name, x, y: y(high), width, height: Math.max(0, y(low) - y(high)) });
      parts.push(band(top, 0, "band"), band(top * 0.75, top * 0.25, "band2"), svg("path", { class: "meanl", d: `M${x} ${y(top / 2)}h${width}` }));
    }
  }
  parts.push(svg("path", { class: "curveB", d: steps(data.b.steps, column, width, y) }), svg("path", { class: "curveA", d: steps(data.a.steps, column, width, y) }));
  if (data.b.steps.length && data.b.steps.length <= data.a.steps.length && !data.b.more) {
    const last = data.b.steps.at(-1);
    parts.push(svg("g", { class: "s-dead", transform: `translate(${column(last.n) + width + 8}, ${y(last.top)})` }, svg("path", { class: "deadx", d: "M-4 -4l8 8m0 -8l-8 8" })));
  }
  parts.push(svg("path", { class: "ax", d: `M${LEFT} ${FLOOR + 0.5}H${plan.right}` }));
  for (let n = 1; n <= plan.columns; n += 1) {
    const waiting = (data.jobs ?? []).filter((job) => job.n === n).length;
    const x = column(n) + width / 2;
    const every = Math.ceil(52 / plan.pitch);
    if ((n - 1) % every === 0) parts.push(text(plan.pitch > 80 ? `failure ${n}` : String(n), { class: "mid t2", x, y: 294 }));
    if (data.jobs && (waiting || plan.pitch > 80)) parts.push(text(plan.pitch > 80 ? `${waiting} waiting` : String(waiting), { class: "mid", x, y: 309 }));
  }
  const end = plan.dead;
  if (!data.a.more) {
    const top = data.a.steps.length ? y(data.a.steps.at(-1).top) + 10 : 90;
    parts.push(svg("path", { class: "deadcol", d: `M${end} ${FLOOR}V${top + 16}` }), svg("g", { class: "s-dead", transform: `translate(${end}, ${top})` }, svg("path", { class: "deadx", d: "M-5 -5l10 10m0 -10l-10 10" })), text("dead", { class: "mid t1", x: end, y: 294 }), text(`failure ${data.a.tries}`, { class: "mid", x: end, y: 309 }));
  } else parts.push(text(`${data.a.more} more`, { class: "mid t2", x: end, y: 294 }), text("the same cap", { class: "mid", x: end, y: 309 }));
  layer.replaceChildren(...parts);
}

// Stands above the jobs: where columns are narrow the stem of one runs behind the word of another.
function waits(layer, data, { y, column, width }) {
  layer.replaceChildren(...data.a.steps.map(({ n, top }, at) => {
    const other = data.b.steps[at] ? y(data.b.steps[at].top) : -Infinity;
    const crossed = other < y(top) - 1 && other > y(top) - 21;
    return text(span(top), { class: "mid t1", x: column(n) + width / 2, y: y(top) + (crossed ? 15 : -7) });
  }));
}

function jobs(layer, data, plan, now) {
  const shown = (data.jobs ?? []).filter((job) => job.n <= plan.columns);
  join(layer, shown, (job) => job.key, (job) => svg("g", { class: "jobmark", "data-job": data.job + job.key }, svg("path", { class: "stem" }), svg("circle", { class: "haloc", r: 9 }), glyph("retry", 3.6, { class: "face" }), svg("title", {})), (mark, job) => {
    const left = Math.max(0, job.run - now);
    const given = job.most ?? left;
    const x = plan.column(job.n) + plan.width * (0.5 + 0.84 * aside(job.key));
    const at = plan.y(given);
    set(mark, { transform: `translate(${x.toFixed(1)}, ${at.toFixed(1)})`, class: `jobmark${job.off ? " is-off" : ""}` });
    set(mark.children[0], { d: job.most === null ? null : `M0 4V${(plan.y(left) - at).toFixed(1)}` });
    const known = job.most === null ? `at least ${span(left)}` : `between ${span(left)} and ${span(job.most)}`;
    say(mark.children[3], `${job.id}, failed ${job.n} times, runs in ${span(left)}; was given ${known}${MISFIT[job.off] ?? ""}`);
  });
}

class Lab {
  constructor(element) {
    this.element = element;
    this.svg = svg("svg", { class: "chart", role: "img" });
    this.ground = this.svg.appendChild(svg("g"));
    this.jobs = this.svg.appendChild(svg("g"));
    this.waits = this.svg.appendChild(svg("g", { class: "waits" }));
    element.replaceChildren(this.svg);
    new ResizeObserver(() => this.draw()).observe(element);
    this.svg.addEventListener("click", ({ target }) => {
      const mark = target.closest("[data-job]");
      if (mark) location.assign(mark.dataset.job);
    });
    document.addEventListener("visibilitychange", () => this.run());
  }

  draw() {
    const wide = this.element.clientWidth;
    if (!this.data || !wide) return;
    const { data } = this;
    const columns = Math.max(1, data.a.steps.length, data.b.steps.length);
    const right = wide - 8;
    const pitch = (right - LEFT - 66) / columns;
    const width = pitch * 0.8;
    const plan = { ...scale(data), columns, right, pitch, width, column: (n) => LEFT + 6 + (n - 1) * pitch, dead: right - 28 };
    const waiting = data.jobs ? `${data.jobs.length} jobs wait now` : "the waiting jobs are not known";
    set(this.svg, { width: wide, height: HEIGHT, viewBox: `0 0 ${wide} ${HEIGHT}`, "aria-label": `Wait before the next try by failed attempt, policy A${data.a.jitter ? " with its jitter band" : ""} and policy B; ${waiting}.` });
    ground(this.ground, data, plan);
    waits(this.waits, data, plan);
    this.plan = plan;
    this.move();
  }

  move() {
    if (this.plan) jobs(this.jobs, this.data, this.plan, this.clock.now());
  }

  // Jobs whose claim is unknown stand at what is left, which runs down.
  run() {
    if (this.timer || document.hidden || !this.element.isConnected) return;
    this.timer = setTimeout(() => { this.timer = null; this.move(); this.run(); }, 500);
  }
}

chart("curve", (element, data, clock) => {
  if (!data) return;
  if (!states.has(element)) states.set(element, new Lab(element));
  const lab = states.get(element);
  Object.assign(lab, { data, clock });
  lab.draw();
  lab.run();
});

chart("way", (element, data) => data && way(element, data));
