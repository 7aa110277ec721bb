// Keeps the page true: subscribes to its topic, applies frames in order, asks for the whole when
// one is missing, acknowledges what it has drawn, and says so when it is no longer live.
import { redraw } from "./charts.js";
import { clock } from "./clock.js";
import { morph } from "./morph.js";
import * as rights from "./rights.js";
import { Socket } from "./socket.js";
import { STALE, heard, span, stand, wall, write } from "./times.js";

export { chart } from "./charts.js";
export { clock };

const ACK_EVERY = 4;
const ACK_MS = 2000;
// A line may be dead and not closed. Frames come about every second, whatever happens.
const SILENT_MS = 8000;
const STANDING = { live: "Live", stale: "Stale" };
const { topic, socket: path } = document.body.dataset;
export const still = document.body.dataset.state === "still";
let seq = 0;
let acked = 0;
let ackTimer = 0;
let asked = false;
let frozen = false;
let lostAt = null;
let telling = 0;
let heardAt = 0;

function ack() {
  clearTimeout(ackTimer);
  ackTimer = 0;
  if (seq > acked) socket.send({ ack: { [topic]: seq } });
  acked = seq;
}

function apply(frame) {
  const status = frame.data.frame;
  clock.hear(frame.now_ms, status.clocks);
  heard(frame.at_ms, status.ages);
  document.body.dataset.state = status.state;
  word(STANDING[status.state] ?? "Not live");
  const panels = [];
  for (const [id, markup] of Object.entries(frame.html)) {
    const element = document.getElementById(id);
    const now = element && morph(element, markup);
    if (now) panels.push(now);
  }
  redraw(frame.data, panels);
  for (const panel of panels) write(panel.parentElement ?? panel);
  document.dispatchEvent(new CustomEvent("echomq:frame", { detail: frame }));
}

function receive(frame) {
  heardAt = performance.now();
  if (frame.topic !== topic) {
    document.dispatchEvent(new CustomEvent("echomq:answer", { detail: frame }));
    return;
  }
  if (frozen) return; // it was under way; what is let go again is sent whole
  if (!frame.data.frame.full && frame.seq !== seq + 1) {
    if (!asked) socket.send({ snapshot: topic });
    asked = true;
    return;
  }
  asked = false;
  seq = frame.seq;
  apply(frame);
  if (seq - acked >= ACK_EVERY) ack();
  else ackTimer ||= setTimeout(ack, ACK_MS);
}

function word(text) {
  const element = document.querySelector("[data-live-word]");
  if (element) element.textContent = text;
}

function tell(tries, ended) {
  const banner = document.getElementById("banner-socket");
  banner.hidden = tries === 0;
  banner.querySelector("[data-socket-since]").textContent = lostAt === null ? "" : wall(lostAt);
  banner.querySelector("[data-socket-why]").textContent = ended
    ? "You are signed out, or may no longer look. Reload to sign in."
    : `Reconnecting, try ${tries}.`;
  settle();
}

// The holder of the browser's own banners takes no room while both are hidden.
function settle() {
  const holder = document.getElementById("browser-banners");
  holder.hidden = [...holder.children].every((one) => one.hidden);
}

const socket = new Socket(path, {
  opened() {
    heardAt = performance.now();
    seq = acked = 0;
    asked = false;
    socket.send({ sub: topic });
    if (document.hidden || frozen) socket.send({ visible: false });
    lostAt = null;
    if (frozen) word("Frozen");
    tell(0, false);
  },
  message: receive,
  renewed() {
    rights.renewed();
    settle();
  },
  closed(tries, ended) {
    if (ended) rights.ended();
    lostAt ??= clock.now();
    word("Not live");
    clearTimeout(telling); // what is told late must not stand over what came since
    if (tries > 1 || ended) tell(tries, ended);
    else telling = setTimeout(() => lostAt !== null && tell(tries, ended), 800);
  },
});

// A frozen page keeps its numbers, with their age, until it is let go again.
export function freeze(on = !frozen) {
  frozen = on;
  heardAt = performance.now();
  socket.send({ visible: !frozen && !document.hidden });
  word(frozen ? "Frozen" : socket.live ? "…" : "Not live");
  document.querySelector("[data-command=freeze]")?.setAttribute("aria-pressed", frozen);
  stand(frozen);
  return frozen;
}

export function reconnect() {
  socket.refused = false;
  socket.open();
}

export function send(message) {
  socket.send(message);
}

function watch() {
  if (frozen || !socket.live) return;
  const silent = performance.now() - heardAt;
  if (silent > SILENT_MS) socket.drop();
  else if (silent > STALE) word("Stale");
}

const SKEW_TOLD = 2000;
document.addEventListener("echomq:second", ({ detail: { skew } }) => {
  watch();
  const banner = document.getElementById("banner-skew");
  banner.hidden = Math.abs(skew) < SKEW_TOLD;
  banner.querySelector("[data-skew-size]").textContent = span(skew);
  banner.querySelector("[data-skew-side]").textContent = skew > 0 ? "behind" : "ahead of";
  settle();
});

export function start() {
  if (still) return;
  socket.open();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && !socket.live) socket.open();
    else socket.send({ visible: !document.hidden && !frozen });
    heardAt = performance.now();
  });
  window.addEventListener("pagehide", () => socket.close());
  window.addEventListener("pageshow", ({ persisted }) => persisted && socket.open());
}
