// Writes moments and ages against the server's clock. Markup carries only the moment, so frames
// need not be sent for time to pass.
import { clock } from "./clock.js";

const FRESH = 1000;
export const STALE = 3000;
const SKEWED = 2000;
const DUE = 1000;
const GLANCED = 2000; // a bus that the page is not of is asked so much later
const state = { pageAt: Number(document.body.dataset.at) || null, frameAt: performance.now(), frozen: false };

export function span(ms) {
  const size = Math.abs(Math.trunc(ms));
  if (size < 1e4) return `${(size / 1e3).toFixed(1)} s`;
  if (size < 6e4) return `${Math.floor(size / 1e3)} s`;
  if (size >= 6e5 && size < 36e5) return `${Math.floor(size / 6e4)} m`;
  if (size < 36e5) return pair(Math.floor(size / 6e4), "m", Math.floor(size / 1e3) % 60, "s");
  if (size < 864e5) return pair(Math.floor(size / 36e5), "h", Math.floor(size / 6e4) % 60, "m");
  const hours = Math.floor(size / 36e5) % 24;
  const days = `${Math.floor(size / 864e5).toLocaleString("en")} d`;
  return hours ? `${days} ${hours} h` : days;
}

function pair(big, bigUnit, small, smallUnit) {
  return small ? `${big} ${bigUnit} ${String(small).padStart(2, "0")} ${smallUnit}` : `${big} ${bigUnit}`;
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export function wall(ms) {
  const moment = new Date(ms);
  return Number.isNaN(moment.getTime()) ? String(ms) : moment.toISOString().slice(11, 19);
}

function dated(ms, now) {
  const moment = new Date(ms);
  if (Number.isNaN(moment.getTime())) return String(ms);
  const year = moment.getUTCFullYear() === new Date(now).getUTCFullYear() ? "" : ` ${moment.getUTCFullYear()}`;
  return `${DAYS[moment.getUTCDay()]} ${moment.getUTCDate()} ${MONTHS[moment.getUTCMonth()]}${year} ${wall(ms)}`;
}

function isToday(ms, now) {
  return Math.abs(ms - now) < 864e5 && new Date(ms).getUTCDate() === new Date(now).getUTCDate();
}

// To the millisecond on this very day, else with its day.
function due(ms, now) {
  return isToday(ms, now) ? new Date(ms).toISOString().slice(11, 23) : dated(ms, now);
}

// A clock alone says today; another day is named.
function clocked(ms, now) {
  if (isToday(ms, now) || Number.isNaN(new Date(ms).getTime())) return wall(ms);
  const day = new Date(ms);
  return `${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]} ${wall(ms)}`;
}

// How long ago. What lies ahead, by a clock that disagrees, is said to and never drawn as an age.
function since(ms, now) {
  return ms <= now + SKEWED ? span(Math.max(0, now - ms)) : `${span(ms - now)} ahead`;
}

// What is to come: in so long, due at this moment, and then late, never "ago".
function ahead(ms, now) {
  if (ms > now) return `in ${span(ms - now)}`;
  return now - ms < DUE ? "due now" : `${span(now - ms)} late`;
}

const forms = {
  clock: clocked,
  due,
  date: dated,
  iso: (_ms, _now, element) => element.dateTime,
  in: ahead,
  ago: (ms, now) => (ms <= now + SKEWED ? `${span(Math.max(0, now - ms))} ago` : `in ${span(ms - now)}`),
  late: (ms, now) => (ms < now ? `${span(now - ms)} late` : `in ${span(ms - now)}`),
  since,
  span: (ms, now) => span(now - ms),
};

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const busOf = (element) => element.closest("[data-bus]")?.dataset.bus;

function ageOf(element) {
  const { at } = element.dataset;
  if (at === "frame") return performance.now() - state.frameAt;
  if (at === "row") {
    const moment = element.closest("[id][data-at]")?.dataset.at;
    return moment ? clock.now(busOf(element)) - Number(moment) : null;
  }
  if (at === "page") return state.pageAt === null ? null : clock.now() - state.pageAt;
  return at ? clock.now(busOf(element)) - Number(at) : null;
}

function drawAge(element) {
  const age = ageOf(element);
  const stale = age === null || age > STALE;
  element.classList.toggle("is-stale", stale);
  const dial = element.querySelector(".dial");
  dial?.classList.toggle("stale", stale && age !== null);
  dial?.classList.toggle("unk", age === null);
  const part = age === null ? 0 : stale ? 100 : Math.min(100, (age / FRESH) * 40);
  dial?.lastElementChild.setAttribute("stroke-dasharray", `${part.toFixed(0)} 100`);
  const figure = element.querySelector(".age-n");
  if (figure) put(figure, age === null ? "unknown" : span(Math.max(0, age)));
}

// Everything below `root`. Rows and sums that carry the moment of their sample are
// hatched by their age.
export function write(root = document) {
  for (const element of root.querySelectorAll("time[data-ms]")) {
    const form = forms[element.dataset.format] ?? forms.clock;
    put(element, form(Number(element.dataset.ms), clock.now(busOf(element)), element));
    element.title ||= element.dateTime;
  }
  for (const element of root.querySelectorAll(".age[data-at]")) drawAge(element);
  for (const element of root.querySelectorAll("[data-clock]")) put(element, wall(clock.now()));
  for (const element of root.querySelectorAll("[data-read]")) put(element, state.pageAt === null ? "" : wall(state.pageAt));
  for (const row of root.querySelectorAll("tr[data-at]:not(.unk), section[data-at]")) {
    row.classList.toggle("stale", clock.now(busOf(row)) - Number(row.dataset.at) > STALE);
  }
  for (const group of root.querySelectorAll(".busgroup[data-at]:not(.bus-off)")) group.classList.toggle("stale", hangs(group));
}

// The queues of a bus in the rail are as old as its last answer, by the clock of the page.
function hangs(group) {
  const { bus, state: standing } = document.body.dataset;
  const most = !bus || bus === group.dataset.bus ? STALE : STALE + GLANCED;
  return standing !== "still" && clock.now() - Number(group.dataset.at) > most;
}

function vitals() {
  const now = clock.now();
  const skew = clock.skew();
  const size = Math.abs(skew) < 1000 ? `${Math.abs(skew)} ms` : span(skew);
  for (const element of document.querySelectorAll("[data-skew]")) put(element, `${skew < 0 ? "−" : "+"}${size}`);
  const page = state.pageAt === null ? 0 : now - state.pageAt;
  document.body.dataset.aged = page > STALE ? "stale" : "fresh";
  document.body.toggleAttribute("data-stands", state.pageAt !== null && (state.frozen || page > STALE));
  document.dispatchEvent(new CustomEvent("echomq:second", { detail: { skew } }));
}

// A frame has come: the page's numbers are of `at`, or as old as before where it says nothing.
export function heard(at, ages = {}) {
  for (const [id, moment] of Object.entries(ages)) {
    const part = document.getElementById(id);
    if (part) part.dataset.at = moment;
  }
  if (at !== null) state.pageAt = at;
  state.frameAt = performance.now();
}

// The moment of the page's numbers while they stand, frozen or too old to speak of now; else null.
export const stood = () => (document.body.dataset.stands === undefined ? null : state.pageAt);

export function stand(on) {
  state.frozen = on;
  tick();
}

function tick() {
  if (document.hidden) return;
  write();
  vitals();
}

export function start() {
  tick();
  setInterval(tick, 500);
  document.addEventListener("visibilitychange", tick);
}
