// What the marks stand on: past ground, ticks, row names, bars, and the fence itself.
import { glyph, join, say, set, svg, text } from "./surface.js";
import { clock, count, day, span } from "./words.js";

const KINDS = ["delayed", "retry", "repeat"];
const line = (point, a1, c1, a2, c2) => `M${point(a1, c1).join(" ")}L${point(a2, c2).join(" ")}`;

function box(plan, a1, a2, c1, c2) {
  const [x1, y1] = plan.point(Math.min(a1, a2), Math.min(c1, c2));
  const [x2, y2] = plan.point(Math.max(a1, a2), Math.max(c1, c2));
  return { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
}

function ticks(stage, layer) {
  const { plan, data } = stage;
  const now = stage.now();
  const found = plan.along.ticks(plan.upright ? 20 : 62);
  join(layer, found, (one) => `tick ${one.t}`, () => svg("g", {}, svg("path", { class: "gridl" }), text("", {}), text("", {})), (group, one) => {
    const [rule, near, far] = group.children;
    set(rule, { d: line(plan.point, one.at, plan.span[0], one.at, plan.span[1]) });
    const words = `${one.t < 0 ? "−" : "+"}${span(one.t).replace(/\.0 s$/, " s")}`;
    say(near, words);
    say(far, plan.upright ? "" : day(now + one.t, now));
    if (plan.upright) set(near, { class: "end t2", x: plan.span[0] - 6, y: one.at + 4 });
    else {
      const edge = one.at > plan.width - 40 ? plan.width - 30 : one.at;
      set(near, { class: "mid t2", x: edge, y: 280 });
      set(far, { class: "mid", x: edge, y: 295 });
    }
  });
}

function rows(stage, layer) {
  const { plan, data } = stage;
  const kinds = KINDS.filter((kind) => kind !== "repeat" || data.repeatTotal !== 0);
  join(layer, kinds, (kind) => `row ${kind}`, (kind) => svg("g", {}, glyph(kind, 4, { class: "m-scheduled" }), text(kind, { class: "t2" }), text("", {}), svg("path", { class: "gridl" })), (group, kind) => {
    const [mark, name, number, rule] = group.children;
    const [low, high] = plan.rows[kind];
    const known = kind === "repeat" ? data.repeatTotal : data.kinds[kind];
    const exact = kind === "repeat" || data.kinds.whole;
    const words = known === null ? "unknown" : exact ? count(known) : known ? `≥ ${count(known)}` : "none near";
    say(number, words);
    if (plan.upright) {
      set(mark, { transform: `translate(${low + 6}, 14)` });
      set(name, { x: low + 15, y: 18 });
      set(number, { x: low + 15, y: 30 });
      set(rule, { d: null });
    } else {
      set(mark, { transform: `translate(20, ${high - 18})` });
      set(name, { x: 32, y: high - 14 });
      set(number, { x: 32, y: high + 1 });
      set(rule, { d: `M92 ${high + 0.5}H${plan.along.high}` });
    }
  });
}

// A bar's length across is the logarithm of its count, so that one job still shows.
function bars(stage, layer) {
  const { plan, data } = stage;
  const now = stage.now();
  const [low, high] = plan.rows.delayed;
  const most = Math.max(20, ...data.bars.map((bar) => bar[2]), ...data.lateBars.map((bar) => bar[2]));
  const room = (high - low) * 0.78;
  const all = [...data.lateBars.map((bar) => [...bar, true]), ...data.bars.map((bar) => [...bar, false])];
  all.forEach((bar, at) => bar.push(at));
  join(layer, all, (bar) => `bar ${bar[4]}`, () => svg("rect", { rx: 1 }, svg("title", {})), (rect, [from, to, n, late]) => {
    const a1 = plan.along.at(from - now);
    const a2 = plan.along.at(to - now);
    const reach = (room * Math.log10(1 + n)) / Math.log10(1 + most);
    const ends = plan.upright ? [low, low + reach] : [high, high - reach];
    const thin = Math.abs(a2 - a1) > 3 ? 1 : 0;
    set(rect, { class: late ? "m-hot latebar" : "m-scheduled", ...box(plan, Math.min(a1, a2) + thin, Math.max(a1, a2), ends[0], ends[1]) });
    say(rect.firstChild, `${count(n)} jobs due from ${day(Math.min(from, to), now)} to ${day(Math.max(from, to), now)} UTC`);
  });
}

function captions(stage, layer) {
  const { plan, data } = stage;
  const said = [];
  const waiting = data.total - data.late;
  if (!plan.upright) {
    const [x] = plan.point(plan.along.now, 0);
    const half = 50;
    if (data.late) said.push(["late", `late ${count(data.late)}`, { class: "end t2", x: x - half - 10, y: 20 }]);
    said.push(["wait", waiting ? `waiting ${count(waiting)}` : "nothing waits", { class: "t2", x: x + half + 10, y: 20 }]);
    const how = stage.waiting ? `${count(stage.waiting)} ${stage.waiting === 1 ? "change" : "changes"} held while you point here` : data.bars.length ? `one mark, one job; one bar, one bucket of every kind; ${data.scale} time, log height` : waiting ? `one mark, one job; ${data.scale} time` : "";
    if (plan.width - x > 620) said.push(["how", how, { class: "end", x: plan.width - 18, y: 20 }]);
    if (data.beyond) said.push(["beyond", `${count(data.beyond)} further out →`, { class: "end t2", x: plan.width - 18, y: 40 }]);
    const peak = data.bars.reduce((best, bar) => (bar[2] > (best?.[2] ?? 0) ? bar : best), null);
    if (peak && peak[2] >= 20) {
      const a = plan.along.at((peak[0] + peak[1]) / 2 - stage.now());
      said.push(["peak", `peak ${count(peak[2])} near ${day((peak[0] + peak[1]) / 2, stage.now())}`, { class: "mid t2", x: Math.max(plan.along.now + 150, Math.min(a, plan.width - 90)), y: 36 + (data.beyond ? 18 : 0) }]);
    }
  } else if (data.beyond) {
    said.push(["beyond", `${count(data.beyond)} further out ↓`, { class: "end t2", x: plan.width - 4, y: plan.height - 2 }]);
  }
  join(layer, said, ([name]) => `said ${name}`, () => text("", {}), (element, [, words, attributes]) => {
    say(element, words);
    set(element, attributes);
  });
}

function fence(stage, layer) {
  const { plan } = stage;
  const a = plan.along.now;
  const held = stage.held !== null;
  const label = `${held ? "held" : stage.aged() ? "as of" : "now"} ${clock(stage.now())}`;
  layer.fence ??= (() => {
    const made = [svg("path", { class: "fence" }), svg("rect", { class: "fence-flag", width: 104, height: 20, rx: 3 }), text("", { class: "mid tink" })];
    layer.append(...made);
    return made;
  })();
  const [rule, flag, words] = layer.fence;
  set(rule, { d: plan.upright ? line(plan.point, a, 48, a, plan.width) : line(plan.point, a, 14, a, 270) });
  const x = plan.upright ? plan.width - 104 : a - 52;
  const y = plan.upright ? a - 10 : 6;
  set(flag, { x, y });
  set(words, { x: x + 52, y: y + 14 });
  say(words, label);
}

export function ground(stage) {
  const { ground: under, bars: middle, over } = stage.layers;
  under.past ??= under.appendChild(svg("rect", { class: "past" }));
  set(under.past, box(stage.plan, stage.plan.along.low, stage.plan.along.now, ...stage.plan.span));
  ticks(stage, (under.ticks ??= under.appendChild(svg("g"))));
  rows(stage, (under.rows ??= under.appendChild(svg("g"))));
  bars(stage, middle);
  captions(stage, (over.said ??= over.appendChild(svg("g"))));
  fence(stage, (over.line ??= over.appendChild(svg("g"))));
}
