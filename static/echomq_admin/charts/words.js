// Counts and moments as words; spans are written as on the rest of the page. Clocks are UTC.
export { span } from "../js/times.js";

const HOUR = 3600000;
const DAY = 24 * HOUR;

export const count = (number) => number.toLocaleString("en-US");

const valid = (ms) => Math.abs(ms) <= 8.64e15;

export const clock = (ms) => (valid(ms) ? new Date(ms).toISOString().slice(11, 19) : String(ms));

// The clock of a moment, with its day where that is not today: 20:52, Mon 20:52, 6 Dec, 2027-01-04.
export function day(ms, now) {
  if (!valid(ms)) return String(ms);
  const at = new Date(ms);
  const away = Math.abs(ms - now);
  const time = at.toISOString().slice(11, away < HOUR ? 19 : 16);
  if (away < HOUR || at.toISOString().slice(0, 10) === new Date(now).toISOString().slice(0, 10)) return time;
  const named = (options) => at.toLocaleDateString("en-GB", { ...options, timeZone: "UTC" });
  if (away < 6 * DAY) return `${named({ weekday: "short" })} ${at.toISOString().slice(11, 16)}`;
  if (away < 300 * DAY) return named({ day: "numeric", month: "short" });
  return at.toISOString().slice(0, 10);
}
