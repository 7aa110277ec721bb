// What the palette says of a queue, by page: the rail carries the figures (waiting, held, scheduled,
// late, dead, repeats, workers), - where unknown and + behind a lower bound.
export function figures(link) {
  const read = (text) => {
    if (!/^\d+\+?$/.test(text ?? "")) return null;
    return `${text.endsWith("+") ? "≥ " : ""}${parseInt(text, 10).toLocaleString("en")}`;
  };
  const [waiting, active, scheduled, late, dead, repeats, workers] = (link.dataset.counts ?? "").split(" ").map(read);
  const behind = late && late !== "0" ? `, ${late} late` : "";
  return {
    pending: waiting && `${waiting} waiting`,
    schedule: scheduled && `${scheduled} waiting${behind}`,
    active: active && `${active} held`,
    dead,
    repeats,
    workers,
  };
}
