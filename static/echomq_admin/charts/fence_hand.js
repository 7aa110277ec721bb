// The hand on the fence: point at a mark, walk them by keys, drag one to another time. A drop
// opens the reschedule dialog with the time and the old score it expects; Escape puts it back.
/* global htmx */
import { aimed, back, show, words } from "./fence_tip.js";

const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1 };

// Whole seconds near now, whole minutes further out: no hand can aim finer on this axis.
function round(ms, now) {
  const grain = ms - now < 600000 ? 1000 : 60000;
  return Math.max(now, Math.round(ms / grain) * grain);
}

class Hand {
  constructor(stage) {
    this.stage = stage;
    this.drag = null;
    this.over = null;
    this.layer = stage.layers.hand;
    const figure = stage.element;
    const on = (name, act) => figure.addEventListener(name, act);
    on("pointerenter", (event) => event.pointerType === "mouse" && stage.hold());
    on("pointerleave", () => this.drag || this.open || this.focused || this.let());
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", () => this.cancel());
    on("keydown", (event) => this.key(event));
    document.addEventListener("keydown", (event) => this.escape(event), true);
    on("focusin", () => { this.focused = figure.matches(":focus-visible"); if (this.focused) stage.hold(); });
    on("focusout", () => this.leave());
    this.dialog = document.getElementById("dialog");
    // Asked before the dialog is emptied: one that settled the matter was empty when it closed.
    this.dialog?.addEventListener("close", () => this.open && this.done(this.dialog.childElementCount > 0), true);
  }

  // The dialog is closed, or none came: the mark goes where the next frame says. Keys that led to
  // it go on from the same mark.
  done(taken = true) {
    const { drag, stage } = this;
    this.open = false;
    this.drag = null;
    if (drag && taken) this.tell(back(drag.one));
    if (stage.element.matches(":hover")) return this.draw();
    this.focused = Boolean(drag?.keys) && document.activeElement === stage.element;
    this.let(this.focused ? this.over : null);
  }

  let(over = null) {
    this.over = over;
    this.stage.release();
    this.draw();
  }

  place(event) {
    const bounds = this.stage.svg.getBoundingClientRect();
    const scale = this.stage.plan.width / bounds.width;
    const x = (event.clientX - bounds.left) * scale;
    const y = (event.clientY - bounds.top) * scale;
    return this.stage.plan.upright ? y : x;
  }

  find(event) {
    const key = event.target.closest?.("[data-mark]")?.dataset.mark;
    return this.stage.placed?.find((one) => one.key === key) ?? null;
  }

  may() {
    return this.stage.element.dataset.reschedule !== undefined;
  }

  down(event) {
    const one = this.find(event);
    if (!one || event.button) return;
    this.stage.hold();
    this.stage.element.setPointerCapture(event.pointerId);
    this.drag = { one, from: one.at, start: this.place(event), to: null };
    event.preventDefault();
  }

  move(event) {
    if (!this.drag) {
      // The chart may have come, or come back, under a pointer that was there already.
      if (event.pointerType === "mouse") this.stage.hold();
      const over = this.find(event);
      if (over?.key !== this.over?.key) { this.over = over; this.draw(); }
      return;
    }
    const a = this.place(event);
    if (this.drag.to === null && (Math.abs(a - this.drag.start) < 4 || !this.may())) return;
    this.aim(this.stage.now() + this.stage.plan.along.of(a));
  }

  aim(ms) {
    const { drag, stage } = this;
    drag.to = round(ms, stage.now());
    if (drag.keys) this.tell(aimed(drag.one, drag.to, stage.now()));
    this.draw();
  }

  up() {
    if (!this.drag) return;
    const { one, to } = this.drag;
    if (to !== null) return this.drop();
    this.drag = null;
    const base = this.stage.data.job;
    if (base) location.assign(base + one.key);
  }

  drop() {
    const { one, to } = this.drag;
    const figure = this.stage.element;
    const url = new URL(figure.dataset.reschedule, location.href);
    url.searchParams.set("item", one.key);
    url.searchParams.set("expect", one.score);
    url.searchParams.set("at", new Date(to).toISOString().slice(0, 19));
    url.searchParams.set("zone", "UTC");
    this.open = true;
    const asked = htmx.ajax("GET", url.pathname + url.search, { target: "#dialog", swap: "innerHTML" });
    asked.then(() => this.dialog.open || this.done(), () => this.done());
  }

  // Keys that went elsewhere move no mark here: it is put back, as by Escape.
  leave() {
    this.focused = false;
    if (this.drag?.keys && !this.open) this.cancel();
    if (!this.drag && !this.open) this.let();
  }

  // A key for one thing at once: what is told stays.
  escape(event) {
    if (event.key !== "Escape" || !this.drag || this.open) return;
    this.cancel();
    event.stopPropagation();
  }

  cancel() {
    if (this.drag && this.drag.to !== null) this.tell(back(this.drag.one));
    this.drag = null;
    this.draw();
    if (!this.focused) this.stage.release();
  }

  key(event) {
    const { stage } = this;
    if (STEPS[event.key] || event.key === "m") stage.hold();
    const list = [...(stage.placed ?? [])].sort((left, right) => left.a - right.a);
    const step = STEPS[event.key];
    if (step && this.drag) {
      const grain = event.shiftKey ? 60000 : event.altKey ? 1000 : 10000;
      this.aim((this.drag.to ?? this.drag.from) + step * grain);
    } else if (step && list.length) {
      const at = list.findIndex((one) => one.key === this.over?.key);
      this.over = list[at < 0 ? (step > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, at + step))];
      this.tell(words(this.over).join(", "));
      this.draw();
    } else if (event.key === "m" && this.over && !this.drag && this.may()) {
      this.drag = { one: this.over, from: this.over.at ?? stage.now(), to: null, keys: true };
      this.aim(Math.max(this.drag.from, stage.now()));
    } else if (event.key === "Enter" && this.drag?.to) this.drop();
    else if (event.key === "Enter" && this.over && stage.data.job) location.assign(stage.data.job + this.over.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  tell(text) {
    const said = document.getElementById("said");
    if (said) said.textContent = text;
  }

  // What is pointed at is as the chart has it now: meanwhile it may have moved, or gone.
  draw() {
    if (this.over) this.over = this.stage.placed?.find((one) => one.key === this.over.key) ?? null;
    const dragging = this.drag !== null && this.drag.to !== null;
    show(this.layer, this.stage, dragging ? this.drag.one : this.over, dragging ? this.drag.to : null);
  }
}

export const hand = (stage) => new Hand(stage);
