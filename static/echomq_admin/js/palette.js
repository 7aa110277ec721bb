// The palette: verbs of this page first, then places, then a job by its id.

import { figures } from "./figures.js";

const ID = /^[A-Z]{3}[0-9A-Za-z]{11}$/;
const MOST = 14;
let entries = [];
let chosen = 0;

const encoded = (text) =>
  `~${btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "")}`;

function verbs() {
  return [...document.querySelectorAll("main .btn[data-action]")].map((button) => ({
    words: button.textContent.trim(),
    where: button.dataset.about ?? (button.getAttribute("aria-disabled") === "true" ? "not now" : "this page"),
    group: "Verbs here",
    act: () => button.click(),
  }));
}

function places() {
  const found = [...document.querySelectorAll(".nav a")].map((link) => ({
    words: link.textContent.trim(),
    where: "",
    group: "Go to",
    act: () => location.assign(link.href),
  }));
  const tabs = [...document.querySelectorAll("#palette [data-tab]")];
  for (const link of document.querySelectorAll(".busgroup[data-bus] a[href*='/queue/']")) {
    const bus = link.closest("[data-bus]").dataset.bus;
    const name = link.querySelector(".qn").textContent;
    const told = figures(link);
    for (const { dataset } of tabs) {
      found.push({
        words: `${name} / ${dataset.word}`,
        where: told[dataset.tab] ? `${bus}, ${told[dataset.tab]}` : bus,
        group: "Go to",
        act: () => location.assign(link.href.replace(/[^/]+$/, dataset.tab)),
      });
    }
  }
  return found;
}

function jobs(query) {
  const text = query.trim();
  const links = [...document.querySelectorAll(".busgroup[data-bus] a[href*='/queue/']")];
  const here = links.filter((link) => link.getAttribute("aria-current") === "page");
  if (!text || (!ID.test(text) && !here.length)) return [];
  return (here.length ? here : links).map((link) => ({
    words: text,
    where: `job in ${link.querySelector(".qn").textContent}`,
    group: "Jobs",
    always: true,
    act: () => location.assign(link.href.replace(/[^/]+$/, `job/${encoded(text)}`)),
  }));
}

function wall(query) {
  const home = document.querySelector(".brand").href;
  const act = () => location.assign(`${home}?q=${encodeURIComponent(query.trim())}`);
  return query.trim() ? [{ words: query.trim(), where: "filter the wall", group: "Go to", always: true, act }] : [];
}

function matching(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ words: text, where }) => words.every((word) => `${text} ${where}`.toLowerCase().includes(word));
  return [...verbs(), ...places()].filter(fits);
}

function marked(text, words) {
  const piece = document.createElement("bdi");
  const at = words.map((word) => [text.toLowerCase().indexOf(word), word]).find(([index]) => index >= 0);
  if (!at) piece.textContent = text;
  else {
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at[0], at[0] + at[1].length);
    piece.append(text.slice(0, at[0]), mark, text.slice(at[0] + at[1].length));
  }
  return piece;
}

function row(entry, index, words) {
  const item = document.createElement("li");
  item.id = `palette-${index}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", String(index === chosen));
  item.classList.toggle("on", index === chosen);
  const what = document.createElement("span");
  what.className = "pt";
  what.append(marked(entry.words, words));
  const where = document.createElement("span");
  where.className = "ps";
  where.textContent = entry.where;
  const group = document.createElement("span");
  group.className = "pgroup";
  group.textContent = entry.group;
  item.append(what, where, group);
  item.addEventListener("click", () => run(index));
  return item;
}

function draw(query) {
  const found = [...matching(query), ...jobs(query), ...wall(query)];
  entries = found.slice(0, MOST);
  chosen = Math.max(0, Math.min(chosen, entries.length - 1));
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const list = document.getElementById("palette-list");
  list.replaceChildren(...entries.map((entry, index) => row(entry, index, words)));
  document.getElementById("palette-count").textContent = `${entries.length} of ${found.length}`;
  const field = document.getElementById("palette-query");
  if (entries.length) field.setAttribute("aria-activedescendant", `palette-${chosen}`);
  else field.removeAttribute("aria-activedescendant");
  list.children[chosen]?.scrollIntoView({ block: "nearest" });
}

function run(index) {
  const entry = entries[index];
  document.getElementById("palette").close();
  entry?.act();
}

export function open() {
  const dialog = document.getElementById("palette");
  if (dialog.open) return;
  const field = document.getElementById("palette-query");
  field.value = "";
  chosen = 0;
  draw("");
  dialog.showModal();
  field.focus();
}

export function start() {
  const field = document.getElementById("palette-query");
  field.addEventListener("input", () => {
    chosen = 0;
    draw(field.value);
  });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      chosen = (chosen + step + entries.length) % Math.max(1, entries.length);
      draw(field.value);
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(chosen);
    }
  });
  const dialog = document.getElementById("palette");
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}
