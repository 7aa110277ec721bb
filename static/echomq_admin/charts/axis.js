// The time axis around now, x = ±log10(1 + |t| / 5 s) or linear, from `back` behind to `ahead`.
export const KNEE = 5000;
const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const LOG_STEPS = [10 * S, M, 5 * M, 15 * M, H, 6 * H, D, 7 * D, 30 * D, 365 * D, 3650 * D];
const EVEN_STEPS = [10 * S, 30 * S, M, 2 * M, 5 * M, 10 * M, 15 * M, 30 * M, H, 2 * H, 6 * H, 12 * H, D, 2 * D, 7 * D, 30 * D, 91 * D, 365 * D, 3650 * D];

const place = { log: (t) => Math.sign(t) * Math.log10(1 + Math.abs(t) / KNEE), linear: (t) => t };
const moment = { log: (x) => Math.sign(x) * KNEE * (10 ** Math.abs(x) - 1), linear: (x) => x };

// `low` and `high` are pixels along the axis. `at` clamps to them; `of` is its inverse.
export function axis(scale, back, ahead, low, high) {
  const kind = scale === "linear" ? "linear" : "log";
  const from = place[kind](-back);
  const to = place[kind](ahead);
  const unit = (high - low) / (to - from);
  const free = (t) => low + (place[kind](t) - from) * unit;
  return {
    low, high, now: free(0),
    at: (t) => Math.min(high, Math.max(low, free(t))),
    of: (pixel) => moment[kind](from + (pixel - low) / unit),
    holds: (t) => t >= -back && t <= ahead,
    ticks: (room) => ticks(kind, back, ahead, free, room),
  };
}

// Distances to label, none closer to its neighbour than `room` pixels, the outermost first.
function ticks(kind, back, ahead, free, room) {
  const reach = Math.max(back, ahead);
  let steps = LOG_STEPS;
  if (kind === "linear") {
    const step = EVEN_STEPS.find((one) => Math.abs(free(one) - free(0)) >= room) ?? EVEN_STEPS.at(-1);
    steps = Array.from({ length: Math.floor(reach / step) }, (_, at) => step * (at + 1));
  }
  const taken = [free(0)];
  const kept = [];
  for (const [sign, edge] of [[1, ahead], [-1, back]]) {
    const side = [...new Set([...steps.filter((one) => one <= edge), edge])].sort((a, b) => b - a);
    for (const one of side) {
      const pixel = free(sign * one);
      if (taken.some((other) => Math.abs(other - pixel) < room)) continue;
      taken.push(pixel);
      kept.push({ t: sign * one, at: pixel });
    }
  }
  return kept;
}
