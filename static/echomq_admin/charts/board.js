// Ranks since the page opened: lines that end in the rows, moves, and rows that travel with their
// rank. Only what this page has seen is drawn; nothing before it is claimed.
import { chart } from "../js/live.js";
import { say, set, slide, svg, text } from "./surface.js";
import { span } from "./words.js";

const HEAD = 32;
const WIDTH = 232;
const FROM = 16;
const NOW = 216;
const KEPT_MS = 3600000;
const FEED = 6;
const boards = new WeakMap();

class Board {
  constructor(element, clock) {
    Object.assign(this, { element, clock, opened: clock.now(), seen: new Map(), feed: [] });
    this.svg = element.appendChild(svg("svg", { class: "chart", role: "img", width: WIDTH }));
    setInterval(() => document.hidden || this.draw(), 1000);
  }

  // Note what changed: each player's places as [ms, place], and when its score last did.
  take(data) {
    const now = this.clock.now();
    const first = !this.data;
    const here = new Set();
    data.players.forEach(([key, rank, score, name], place) => {
      here.add(key);
      const known = this.seen.get(key);
      if (!known) {
        this.seen.set(key, { trail: [[first ? this.opened : now, place]], rank, score, name, start: first ? rank : null, changed: first ? null : now });
        if (!first) this.note(now, name, `${score} enters, rank ${rank}`);
        return;
      }
      if (known.gone) { known.trail.push([now, null]); known.gone = false; }
      if (known.trail.at(-1)[1] !== place) known.trail.push([now, place]);
      if (known.score !== score) {
        this.note(now, name, `${known.score} to ${score}, rank ${known.rank}${known.rank === rank ? " kept" : ` to ${rank}`}`);
        known.changed = now;
      }
      Object.assign(known, { rank, score });
    });
    for (const [key, known] of this.seen) {
      if (!here.has(key)) known.gone = true;
      while (known.trail.length > 1 && known.trail[1][0] < now - KEPT_MS) known.trail.shift();
    }
    const old = this.data?.players.map(([key]) => key);
    this.data = data;
    if (old) this.travel(old);
    this.draw();
  }

  note(at, name, words) {
    this.feed = [{ at, name, words }, ...this.feed].slice(0, FEED);
    const list = document.getElementById("moves");
    list?.replaceChildren(...this.feed.map((one) => {
      const row = document.createElement("li");
      const when = Object.assign(document.createElement("span"), { className: "num", textContent: new Date(one.at).toISOString().slice(11, 21) });
      row.append(when, Object.assign(document.createElement("b"), { textContent: one.name }), ` ${one.words}`);
      return row;
    }));
  }

  // Rows have already changed places; each slides in from where it stood.
  travel(old) {
    this.data.players.forEach(([key], place) => {
      const before = old.indexOf(key);
      const row = document.getElementById(`player-${key}`);
      if (row && before >= 0 && before !== place) slide(row, 0, (before - place) * row.offsetHeight, 320, `${this.seen.get(key).name} is at rank ${this.seen.get(key).rank}`);
    });
  }

  cells(now) {
    for (const [key] of this.data.players) {
      const known = this.seen.get(key);
      const move = document.getElementById(`mv-${key}`);
      const changed = document.getElementById(`ch-${key}`);
      if (!move || !known) continue;
      const up = known.start === null ? null : known.start - known.rank;
      move.className = `mv${up === null ? " new" : up ? "" : " flat"}`;
      say(move, up === null ? "new" : up ? `${up > 0 ? "▲" : "▼"} ${Math.abs(up)}` : "–");
      if (changed) say(changed, known.changed === null ? "" : span(now - known.changed));
    }
  }

  path(trail, x, y, now) {
    let d = "";
    let before = FROM;
    trail.forEach(([at, place], index) => {
      if (place === null) return;
      const px = Math.max(FROM, x(at));
      if (!d || trail[index - 1]?.[1] === null) d += `M${px} ${y(place)}`;
      else {
        // A turn takes ten pixels, or what there is since the turn before.
        const start = Math.max(before, px - 10);
        const was = y(trail[index - 1][1]);
        d += `H${start}C${px} ${was} ${start} ${y(place)} ${px} ${y(place)}`;
      }
      before = px;
    });
    return `${d}H${WIDTH}`;
  }

  draw() {
    const table = this.element.parentElement.querySelector(".board");
    if (!this.data || !table) return;
    const now = this.clock.now();
    const tall = table.tBodies[0]?.rows[0]?.offsetHeight || 50;
    const height = HEAD + tall * this.data.players.length;
    const window = Math.max(60000, Math.min(KEPT_MS, now - this.opened));
    const x = (at) => NOW - ((now - at) / window) * (NOW - FROM);
    const y = (place) => HEAD + tall * (place + 0.5);
    const parts = [];
    for (let step = 0; step <= 4; step += 1) {
      const at = FROM + ((NOW - FROM) * step) / 4;
      const back = window * (1 - step / 4);
      const words = step === 4 ? "now" : step === 0 ? span(back).replace(".0", "") : `−${span(back).replace(".0", "")}`;
      parts.push(svg("path", { class: "gridl", d: `M${at} ${HEAD}V${height}` }));
      if (step % 2 === 0) parts.push(text(words, { class: step === 0 ? "" : step === 4 ? "end" : "mid", x: step === 4 ? NOW + 4 : at, y: 20 }));
    }
    for (const [key, known] of this.seen) {
      if (known.gone) continue;
      const focus = key === this.data.follow;
      const line = svg("path", { class: `bl${focus ? " focus" : ""}${known.start === null ? " new" : ""}`, d: this.path(known.trail, x, y, now) });
      if (focus) parts.push(line);
      else parts.splice(10, 0, line);
      if (known.start === null) parts.push(svg("circle", { class: "bdot", cx: Math.max(FROM, x(known.trail[0][0])), cy: y(known.trail[0][1]), r: 3.5 }));
    }
    parts.push(svg("path", { class: "fence", d: `M${WIDTH - 1} ${HEAD - 4}V${height}` }));
    set(this.svg, { height, viewBox: `0 0 ${WIDTH} ${height}`, "aria-label": `Ranks since this page opened ${span(now - this.opened)} ago, one line per player, ending in the rows beside.` });
    this.svg.replaceChildren(...parts);
    this.cells(now);
  }
}

chart("ranks", (element, data, clock) => {
  if (!data) return;
  if (!boards.has(element)) boards.set(element, new Board(element, clock));
  boards.get(element).take(data);
});
