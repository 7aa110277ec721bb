// The server's clock, carried on by a clock of the browser that never jumps. Due and late are
// judged by this one; the browser's own wall clock is only compared with it.

const LATENT = 8;
let bases = [];
let skews = {};

const entry = performance.getEntriesByType("navigation")[0];
const { now: first, clocks } = document.body.dataset;
if (first) bases.push(Number(first) - (entry?.responseStart ?? performance.now()));
try {
  skews = JSON.parse(clocks || "{}");
} catch {
  skews = {};
}

// The frame that travelled least tells the most, so the greatest of the last few is taken.
function base() {
  return bases.length ? Math.max(...bases) : Date.now() - performance.now();
}

export const clock = {
  // Unix ms: of the page's own bus, or of `bus` on a page of all of them.
  now(bus) {
    return base() + performance.now() + (skews[bus] ?? 0);
  },

  // A frame said what the server's clock was when it was sent.
  hear(nowMs, others) {
    const heard = nowMs - performance.now();
    if (bases.length && Math.abs(heard - base()) > 2000) bases = [];
    bases = [...bases, heard].slice(-LATENT);
    skews = others ?? skews;
  },

  // Server minus browser, ms.
  skew() {
    return Math.round(clock.now() - Date.now());
  },
};
