// What the hand shows on the fence: the ring and words of the mark it points at, or the ghost,
// the dotted path, both times and their difference while it drags one.
import { glyph, svg, text } from "./surface.js";
import { clock, count, day, span } from "./words.js";

const due = (one) => (one.at === null ? `score ${one.score}` : `${clock(one.at)} UTC`);
const tried = (tries) => (tries === 1 ? "tried once" : `tried ${count(tries)} times`);

export function words(one) {
  const state = one.flag === "seconds" ? "looks like seconds, not ms"
    : !Number.isFinite(one.t) ? "no moment"
      : one.late ? `${span(one.t)} late` : `in ${span(one.t)}`;
  const more = [one.kind, one.tries ? tried(one.tries) : "", one.flag === "orphan" ? "no row" : ""];
  return [one.id, `${due(one)}   ${state}`, more.filter(Boolean).join(", ")];
}

// How far a mark is from where it was, in whole seconds: no hand aims finer.
function moved(one, to, now) {
  const delta = Math.round((to - (one.at ?? now)) / 1000) * 1000;
  return `${delta < 0 ? "−" : "+"}${span(delta).replace(".0 s", " s")}${to <= now ? ", due at once" : ""}`;
}

// What is heard of a mark under way, and of one that was put back.
export const aimed = (one, to, now) => `${day(to, now)} UTC, ${moved(one, to, now)}`;
export const back = (one) => `${one.id} was put back, ${due(one)}`;

function tip(layer, plan, x, y, lines) {
  const shown = lines.filter(Boolean);
  const width = Math.max(150, ...shown.map((one) => one.length * 6.6 + 24));
  const height = 8 + shown.length * 16;
  const beside = x > plan.width / 2 ? x - width - 14 : x + 14;
  const left = Math.max(4, Math.min(plan.width - width - 4, beside));
  const top = Math.max(4, Math.min(plan.height - height - 4, y - height - 8));
  layer.append(svg("rect", { class: "tip", x: left, y: top, width, height, rx: 6 }));
  shown.forEach((one, at) => layer.append(text(one, { class: at ? "t2" : "tm", x: left + 10, y: top + 17 + at * 16 })));
}

function dragged(layer, plan, one, to, now) {
  const [low, high] = plan.rows[one.row ?? "delayed"];
  const lift = plan.upright ? high - 8 : low + 26;
  const target = plan.along.at(to - now);
  const [x, y] = plan.point(one.a, one.c);
  const [tx, ty] = plan.point(target, lift);
  const foot = plan.point(target, plan.upright ? low : high);
  layer.append(
    svg("path", { class: "dragline", d: `M${x} ${y}Q${plan.point(one.a, lift).join(" ")} ${tx} ${ty}` }),
    svg("circle", { class: "ghost-bg", cx: x, cy: y, r: 5.5 }),
    svg("circle", { class: "ghost", cx: x, cy: y, r: 5 }),
    svg("path", { class: "dash", d: `M${tx} ${ty}L${foot.join(" ")}` }),
    svg("circle", { class: "grabring", cx: tx, cy: ty, r: 9 }),
    svg("g", { transform: `translate(${tx}, ${ty})` }, glyph(one.kind, 5, { class: "m-scheduled" })),
  );
  tip(layer, plan, tx, ty, [one.id, `${day(one.at ?? now, now)} → ${day(to, now)} UTC`, moved(one, to, now)]);
}

export function show(layer, stage, subject, to) {
  layer.replaceChildren();
  if (!subject || !stage.plan) return;
  const one = stage.placed.find((found) => found.key === subject.key) ?? subject;
  if (to !== null) return dragged(layer, stage.plan, one, to, stage.now());
  const [x, y] = stage.plan.point(one.a, one.c);
  layer.append(svg("circle", { class: "selring", cx: x, cy: y, r: 7.5 }));
  tip(layer, stage.plan, x, y, words(one));
}
