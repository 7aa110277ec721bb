// Spans and moments as words, the same as the server writes them; every clock is UTC.
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const two = (number) => String(number).padStart(2, "0");

export function span(ms) {
  ms = Math.abs(ms);
  if (ms < 9950) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) {
    const seconds = Math.floor((ms % MINUTE) / SECOND);
    return `${Math.floor(ms / MINUTE)} m${seconds ? ` ${two(seconds)} s` : ""}`;
  }
  if (ms < DAY) {
    const minutes = Math.floor((ms % HOUR) / MINUTE);
    return `${Math.floor(ms / HOUR)} h${minutes ? ` ${two(minutes)} m` : ""}`;
  }
  if (ms < 365 * DAY) {
    const hours = Math.floor((ms % DAY) / HOUR);
    return `${Math.floor(ms / DAY)} d${hours && ms < 10 * DAY ? ` ${hours} h` : ""}`;
  }
  return `${(ms / (365.25 * DAY)).toFixed(1)} y`;
}

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
