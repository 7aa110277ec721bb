// SVG elements made, joined by key and moved. Geometry goes into attributes and motion through
// the animation interface, so nothing needs an inline style.
const SPACE = "http://www.w3.org/2000/svg";

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, tag);
  set(element, attributes);
  element.append(...children);
  return element;
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
  return element;
}

export const text = (words, attributes) => svg("text", attributes, document.createTextNode(words));

export function say(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

// Children of `parent` follow `items`: one each by key, made, updated, and let go.
export function join(parent, items, key, make, update, leave = (element) => element.remove()) {
  const kept = (parent.kept ??= new Map());
  const seen = new Set();
  for (const item of items) {
    const name = key(item);
    seen.add(name);
    let element = kept.get(name);
    if (!element) {
      element = make(item);
      kept.set(name, element);
      parent.append(element);
    }
    update(element, item);
  }
  for (const [name, element] of kept) {
    if (seen.has(name)) continue;
    kept.delete(name);
    leave(element);
  }
}

// Where nothing may move, what changed stands in second-level ink for two seconds and is said, at
// most one line in that time.
let toldAt = -Infinity;
const MARKED_MS = 2000;

export function mark(element, words) {
  element?.animate([{ opacity: 0.6 }, { opacity: 0.6 }], { duration: MARKED_MS });
  const said = document.getElementById("said");
  if (!words || !said || performance.now() - toldAt < MARKED_MS) return;
  toldAt = performance.now();
  said.textContent = words;
}

// Slide an element from where it stood: [dx, dy] is its old place seen from the new one.
export function slide(element, dx, dy, ms = 320, words = "") {
  if (Math.abs(dx) < 0.5 && Math.abs(dy) < 0.5) return;
  if (still()) return mark(element, words);
  element.animate(
    [{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }],
    { duration: ms, easing: "cubic-bezier(.2, .7, .2, 1)" },
  );
}

// Swing an element along a circle from where it stood on it, the shorter way; angles in radians.
export function swing(element, radius, from, to, ms = 320) {
  const way = Math.atan2(Math.sin(from - to), Math.cos(from - to));
  if (Math.abs(way) < 0.005) return;
  if (still()) return mark(element, "");
  const frames = [1, 0.8, 0.6, 0.4, 0.2, 0].map((left) => {
    const at = to + way * left;
    const [dx, dy] = [Math.cos(at) - Math.cos(to), Math.sin(at) - Math.sin(to)];
    return { transform: `translate(${radius * dx}px, ${radius * dy}px)` };
  });
  element.animate(frames, { duration: ms, easing: "cubic-bezier(.2, .7, .2, 1)" });
}

export function fade(element) {
  if (still()) return element.remove();
  const going = element.animate([{ opacity: 1 }, { opacity: 0 }], { duration: 320, fill: "forwards" });
  going.finished.then(() => element.remove(), () => element.remove());
}

// The three kinds: circle, triangle, diamond, about the origin.
export function glyph(kind, size, attributes = {}) {
  if (kind === "retry") {
    const reach = size * 1.2;
    return svg("path", { d: `M0 ${-reach}L${reach * 1.03} ${reach * 0.8}H${-reach * 1.03}Z`, ...attributes });
  }
  if (kind === "repeat") {
    const reach = size * 1.3;
    return svg("path", { d: `M0 ${-reach}L${reach} 0L0 ${reach}L${-reach} 0Z`, ...attributes });
  }
  return svg("circle", { r: size, ...attributes });
}
