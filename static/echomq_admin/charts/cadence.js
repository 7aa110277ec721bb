// Repeats as rows on the time axis of the fence: rings left of now are runs that were fired, with
// their drift as a line; the solid diamond is the next run, hollow ones follow it.
import { chart } from "../js/live.js";
import { axis } from "./axis.js";
import { glyph, join, say, set, svg, text } from "./surface.js";
import { clock as wall, day, span } from "./words.js";

const ROW = 28;
const TOP = 36;
const states = new WeakMap();

function row(group, one, at, plan, now) {
  const y = TOP + at * ROW + ROW / 2;
  const [rule, name, parked, past, coming] = group.children;
  const narrow = plan.left < 120;
  set(rule, { d: `M${plan.left} ${y + ROW / 2 + 0.5}H${plan.along.high}` });
  say(name, narrow ? "" : one.name);
  set(name, { x: 16, y: y + 4 });
  set(parked, { d: one.parked ? `M${plan.along.now + 6} ${y}H${plan.along.high}` : null });
  const fired = one.past.filter(([, moment]) => plan.along.holds(moment - now));
  join(past, fired, ([due, moment], index) => `${due} ${moment} ${index}`, () => svg("g", {}, svg("path", { class: "driftline" }), svg("circle", { class: "ring", r: 3.2 }), svg("title", {})), (mark, [due, moment]) => {
    const x = plan.along.at(moment - now);
    set(mark.children[0], { d: due === null ? null : `M${plan.along.at(due - now).toFixed(1)} ${y}H${x.toFixed(1)}` });
    set(mark.children[1], { cx: x.toFixed(1), cy: y });
    say(mark.children[2], `${one.name}, fired ${wall(moment)} UTC${due === null ? " by hand" : `, ${span(moment - due)} after its slot`}`);
  });
  const ahead = one.coming.map((moment, index) => ({ moment, index })).filter(({ moment }) => moment <= now || plan.along.holds(moment - now));
  join(coming, ahead, ({ index }) => `next ${index}`, () => svg("g", {}, svg("path", { class: "tether" }), glyph("repeat", 4.2, {}), svg("title", {})), (mark, { moment, index }) => {
    const x = plan.along.at(moment - now);
    const late = moment <= now;
    set(mark, { transform: `translate(${x.toFixed(2)}, ${y})` });
    set(mark.children[0], { d: late ? `M0 0H${(plan.along.now - x).toFixed(1)}` : null });
    set(mark.children[1], { class: late ? "m-hot" : index || one.invalid ? "hollow" : "m-scheduled" });
    say(mark.children[2], `${one.name}, ${late ? `${span(now - moment)} overdue` : `in ${span(moment - now)}`}`);
  });
}

class Rows {
  constructor(element) {
    this.element = element;
    this.svg = svg("svg", { class: "chart", role: "img" });
    this.ground = this.svg.appendChild(svg("g"));
    this.rows = this.svg.appendChild(svg("g"));
    this.over = this.svg.appendChild(svg("g"));
    element.replaceChildren(this.svg);
    new ResizeObserver(() => this.draw()).observe(element);
    document.addEventListener("visibilitychange", () => this.run());
  }

  draw() {
    const width = this.element.clientWidth;
    if (!this.data || !width) return;
    const { data } = this;
    const now = this.clock.now();
    const left = width < 620 ? 16 : 190;
    const along = axis("log", data.back, data.ahead, left, width - 24);
    const bottom = TOP + data.rows.length * ROW;
    const height = bottom + 40;
    const coming = data.rows.filter((one) => one.coming.length && !one.parked).length;
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": `Runs of ${data.rows.length} repeats around now; ${coming} have a next run. The table below has them.` });
    const parts = [svg("rect", { class: "past", x: left, y: TOP - 6, width: Math.max(0, along.now - left), height: bottom - TOP + 6 })];
    for (const tick of along.ticks(64)) {
      const x = Math.max(30, Math.min(tick.at, width - 34));
      parts.push(svg("path", { class: "gridl", d: `M${tick.at} ${TOP - 6}V${bottom}` }), text(`${tick.t < 0 ? "−" : "+"}${span(tick.t).replace(".0", "")}`, { class: "mid t2", x, y: bottom + 16 }), text(day(now + tick.t, now), { class: "mid", x, y: bottom + 31 }));
    }
    this.ground.replaceChildren(...parts);
    join(this.rows, data.rows.map((one, at) => ({ one, at })), ({ one }) => one.name, () => svg("g", {}, svg("path", { class: "gridl" }), text("", { class: "t1" }), svg("path", { class: "parkline" }), svg("g"), svg("g")), (group, { one, at }) => row(group, one, at, { along, left }, now));
    const x = along.now;
    this.over.replaceChildren(svg("path", { class: "fence", d: `M${x} 20V${bottom + 4}` }), svg("rect", { class: "fence-flag", x: x - 46, y: 6, width: 92, height: 20, rx: 3 }), text(`now ${wall(now)}`, { class: "mid tink", x, y: 20 }));
    if (data.more) this.over.append(text(`${data.more} more below`, { class: "end t2", x: width - 24, y: 20 }));
  }

  run() {
    if (this.timer || document.hidden || !this.element.isConnected) return;
    const soon = this.data.rows.some((one) => one.coming[0] && Math.abs(one.coming[0] - this.clock.now()) < 30000);
    this.timer = setTimeout(() => requestAnimationFrame(() => { this.timer = null; this.draw(); this.run(); }), soon ? 100 : 500);
  }
}

chart("cadence", (element, data, clock) => {
  if (!data) return;
  if (!states.has(element)) states.set(element, new Rows(element));
  const rows = states.get(element);
  Object.assign(rows, { data, clock });
  rows.draw();
  rows.run();
});
