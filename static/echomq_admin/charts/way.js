// From the first failure to dead on one linear axis: each tick a try, solid the average under
// jitter, thin the worst. Waits alone: the tries themselves take what they take.
import { set, svg, text } from "./surface.js";
import { span } from "./words.js";

const STEPS = [100, 200, 500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000, 300000, 600000, 1800000, 3600000, 7200000, 21600000, 43200000, 86400000, 172800000, 604800000, 2592000000];

function line(parts, name, policy, y, x, solid) {
  parts.push(text(name, { class: "t1", x: 34, y: y + 4 }));
  const end = x(policy.worst);
  parts.push(svg("path", { class: solid ? "worst" : "worstb", d: `M${x(0)} ${y}H${end}` }));
  if (policy.jitter) parts.push(svg("path", { class: solid ? "expect" : "expect b", d: `M${x(0)} ${y}H${x(policy.mean)}` }));
  let at = 0;
  for (const wait of [0, ...policy.waits]) {
    at += wait;
    parts.push(svg("path", { class: "trya", d: `M${x(at)} ${y - 6}v12` }));
  }
  parts.push(svg("g", { class: "s-dead", transform: `translate(${end}, ${y})` }, svg("path", { class: "deadx", d: "M-5 -5l10 10m0 -10l-10 10" })));
  const words = policy.worst ? `dead ${policy.jitter ? "within" : "after"} ${span(policy.worst)}${policy.jitter ? "" : ", exactly"}` : "dead at the first failure";
  parts.push(text(words, end > 260 ? { class: "t1 end", x: end - 12, y: y - 12 } : { class: "t1", x: end + 12, y: y - 12 }));
  if (policy.jitter && policy.worst) parts.push(text(`on average ${span(policy.mean)}`, { class: "t2 mid", x: Math.max(120, x(policy.mean)), y: y + 20 }));
}

function draw(element, data) {
  const wide = element.clientWidth;
  if (!wide) return;
  const most = Math.max(1000, data.a.worst, data.b.worst) * 1.08;
  const left = 64;
  const x = (ms) => left + (ms / most) * (wide - left - 40);
  const step = STEPS.find((one) => x(one) - x(0) >= 74) ?? most;
  const parts = [];
  for (let at = 0; at <= most; at += step) {
    parts.push(svg("path", { class: "gridl", d: `M${x(at)} 4V108` }), text(at ? span(at).replace(".0", "") : "0", { class: "mid", x: x(at), y: 124 }));
  }
  line(parts, "A", data.a, 34, x, true);
  line(parts, "B", data.b, 86, x, false);
  const label = `From the first failure to dead: policy A at most ${span(data.a.worst)}, policy B at most ${span(data.b.worst)}.`;
  element.drawn ??= element.appendChild(svg("svg", { class: "chart", role: "img" }));
  set(element.drawn, { width: wide, height: 132, viewBox: `0 0 ${wide} 132`, "aria-label": label });
  element.drawn.replaceChildren(...parts);
}

export function way(element, data) {
  element.numbers = data;
  if (!element.watcher) {
    element.watcher = new ResizeObserver(() => draw(element, element.numbers));
    element.watcher.observe(element);
  }
  draw(element, data);
}
