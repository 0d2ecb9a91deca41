// All class capsules at once, one row each: how many standard deviations every number is from the mean of its class,
// dragged up and down. Where nobody has measured the means, the numbers themselves.

import { aloud } from "../core/aloud";
import { inkOn } from "../core/colours";
import { element, enable, isTap, ofFinger, ofOneFinger, quietOutput, reveal } from "../core/dom";
import { shown, signed } from "../core/numbers";
import { type HandPanel, scaleKey, type Workbench } from "./panel";

const DEVIATIONS = 6; // where the colours end
const PIXELS = 16; // of dragging for one standard deviation
const LEAST = 0.01; // of an offset: its last decimal, which a deviation may be far below
const SHORT = 3; // letters of names that stand in a narrow column

interface Row {
  readonly root: HTMLElement;
  readonly pick: HTMLButtonElement;
  readonly cells: HTMLElement[];
}

interface Place {
  readonly label: number;
  readonly d: number;
}

/** A cell that is dragged: its offset and the pointer's height when it was taken. */
interface Held extends Place {
  readonly from: number;
  readonly y: number;
}

export class Cells implements HandPanel {
  readonly root: HTMLElement;
  private readonly grid: HTMLElement;
  private readonly rows: Row[];
  private readonly written = new WeakMap<HTMLElement, number>(); // the value that a cell shows
  private readonly reading = aloud(quietOutput("reading"));
  private readonly zero = element("button", { type: "button", className: "zero", textContent: "All to zero" });
  private readonly scale = scaleKey("", "");
  private held: Held | undefined;
  private pointed: Place | undefined;

  constructor(private readonly board: Workbench) {
    const { classes, decoders } = board.data;
    this.rows = classes.map((name, label) => this.row(name, label, decoders[0].poses[0].length));
    const numbers = this.rows[0].cells.map((_, d) => element("span", { textContent: String(d) }));
    this.zero.onclick = (event) => board.reset(event);
    const worded = classes.some(({ length }) => length > SHORT);
    this.grid = element(
      "div",
      { className: worded ? "cells worded" : "cells", role: "group", "aria-label": "All class capsules, one row each" },
      element("div", { className: "row head" }, element("span", { textContent: "class" }), ...numbers),
      ...this.rows.map(({ root }) => root),
    );
    this.grid.onpointerleave = () => this.read(this.held);
    this.scale.classList.add("cells-key");
    const below = element("div", { className: "below cells-below" }, this.zero, this.reading, this.scale);
    this.root = element("div", { className: "controls" }, this.grid, below);
    this.root.style.setProperty("--dimensions", String(board.data.decoders[0].poses[0].length));
    ofOneFinger(this.grid);
    this.grid.onclick = (event) => isTap(event) && this.tap(event.target as Node);
  }

  private row(name: string, label: number, dimensions: number): Row {
    const spoken = `class capsule ${name}`;
    const pick = element("button", { type: "button", textContent: name, title: name, "aria-label": spoken });
    pick.onclick = () => this.board.select(label);
    const cells = Array.from({ length: dimensions }, (_, d) => this.cell(label, d));
    return { root: element("div", { className: "row" }, pick, ...cells), pick, cells };
  }

  private cell(label: number, d: number): HTMLElement {
    const name = `class ${this.board.data.classes[label]}, dimension ${d}`;
    const cell = element("div", { className: "cell", role: "slider", tabIndex: -1, "aria-label": name });
    cell.setAttribute("aria-keyshortcuts", "Delete Backspace");
    const { board } = this;
    cell.onpointerdown = (event) => {
      if (event.button || (label !== board.state.upper && ofFinger(event))) return; // it may move the page
      cell.setPointerCapture(event.pointerId);
      cell.focus({ preventScroll: true });
      event.preventDefault();
      board.select(label, false);
      board.dragging = true;
      this.held = { label, d, from: board.state.offsets[d], y: event.clientY };
      this.read(this.held);
    };
    cell.onpointermove = (event) => {
      if (!this.held || !cell.hasPointerCapture(event.pointerId)) return;
      const moved = ((this.held.y - event.clientY) / PIXELS) * Math.max(LEAST, this.deviation(label, d));
      this.move(label, d, this.held.from + moved, event);
    };
    cell.onpointerup = cell.onpointercancel = () => {
      if (!this.held) return;
      this.held = undefined;
      board.dragging = false;
      board.leave();
    };
    cell.ondblclick = (event) => {
      this.move(label, d, 0, event);
      board.leave();
    };
    cell.onpointerenter = cell.onfocus = () => {
      if (!this.held) this.read({ label, d });
    };
    cell.onkeydown = (event) => this.key(event, label, d);
    return cell;
  }

  /** A finger chooses a row before it drags its numbers. */
  private tap(at: Node): void {
    const label = this.rows.findIndex(({ root }) => root.contains(at));
    if (label >= 0) this.board.select(label);
  }

  /** The row becomes the chosen one, also where another image has come meanwhile; what stood in another is taken back. */
  private move(label: number, d: number, offset: number, event: Event): void {
    this.board.select(label, false);
    this.board.offset(d, offset, event.timeStamp);
  }

  /** ↑ ↓ move the number, ← → go to the next one, Page Up and Down to the next class, Delete takes it back. */
  private key(event: KeyboardEvent, label: number, d: number): void {
    const { board } = this;
    const step = Math.max(LEAST, 0.25 * this.deviation(label, d));
    const goTo = (row: number, column: number): void => {
      const cells = row < 0 ? undefined : this.rows.at(row)?.cells;
      if (column >= 0) cells?.at(column)?.focus();
    };
    const to = (offset: (now: number) => number): void => {
      this.move(label, d, offset(this.offsetOf(label, d)), event);
      board.leaveSoon();
    };
    const acts: Record<string, () => void> = {
      ArrowUp: () => to((now) => now + step),
      ArrowDown: () => to((now) => now - step),
      ArrowRight: () => goTo(label, d + 1),
      ArrowLeft: () => goTo(label, d - 1),
      PageUp: () => goTo(label - 1, d),
      PageDown: () => goTo(label + 1, d),
      Home: () => goTo(label, 0),
      End: () => goTo(label, this.rows[label].cells.length - 1),
      Delete: () => to(() => 0),
      Backspace: () => to(() => 0),
      Enter: () => board.select(label),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  }

  /** The model whose capsules stand here, where several draw. */
  private get lead(): number {
    return this.board.data.lead;
  }

  private deviation(label: number, d: number): number {
    return this.board.decoder(this.lead)?.deviations(label)[d] ?? 1;
  }

  private offsetOf(label: number, d: number): number {
    return label === this.board.state.upper ? this.board.state.offsets[d] : 0;
  }

  private value(label: number, d: number): number {
    return this.board.data.decoders[this.lead].poses[label][d] + this.offsetOf(label, d);
  }

  /** Whether numbers are told in standard deviations from the mean of the class. */
  private get scored(): boolean {
    return this.board.decoder(this.lead)?.measured ?? false;
  }

  private score(label: number, d: number, value: number): number {
    return this.board.decoder(this.lead)?.deviated(label, d, value) ?? value;
  }

  refresh(): void {
    const { state } = this.board;
    const [low, high] = this.scale.children;
    const ends = this.scored ? [`≤ −${DEVIATIONS} σ`, `≥ ${DEVIATIONS} σ`] : ["≤ −1", "≥ +1"];
    [low.textContent, high.textContent] = this.board.decoder(this.lead) ? ends : ["", ""];
    this.rows.forEach(({ root, pick, cells }, label) => {
      const chosen = label === state.upper;
      root.classList.toggle("chosen", chosen);
      pick.setAttribute("aria-pressed", String(chosen));
      cells.forEach((cell, d) => {
        cell.tabIndex = chosen && d === 0 ? 0 : -1;
        this.written.delete(cell);
        if (!chosen) this.dress(label, d);
      });
    });
    reveal(this.grid, this.rows[state.upper].root);
  }

  write(): void {
    const { state } = this.board;
    this.rows[state.upper].cells.forEach((_, d) => this.dress(state.upper, d));
    enable(this.zero, state.offsets.some(Boolean));
    this.read(this.held ?? this.pointed);
  }

  private dress(label: number, d: number): void {
    const { board } = this;
    const cell = this.rows[label].cells[d];
    const value = this.value(label, d);
    if (!board.decoder(this.lead)) {
      cell.style.background = cell.textContent = ""; // whether it is told in σ, that says
      return;
    }
    if (this.written.get(cell) === value) return;
    this.written.set(cell, value);
    const score = this.score(label, d, value);
    const end = this.scored ? DEVIATIONS : 1;
    const colour = board.colours.of(score, -end, end);
    cell.style.background = colour;
    cell.style.color = inkOn(colour);
    cell.textContent = label === board.state.upper ? shown(score, Math.abs(score) < 9.95 ? 1 : 0) : "";
    cell.classList.toggle("moved", this.offsetOf(label, d) !== 0);
    const most = Math.max(end, Math.abs(score)).toFixed(2);
    cell.setAttribute("aria-valuemin", `-${most}`);
    cell.setAttribute("aria-valuemax", most);
    cell.setAttribute("aria-valuenow", score.toFixed(2));
    cell.setAttribute("aria-valuetext", this.told(score, value));
  }

  private told(score: number, value: number): string {
    return this.scored ? `${signed(value)}, ${signed(score, 1)} σ from the mean of the class` : signed(value);
  }

  /** The number at the pointer, in words. */
  private read(place: Place | undefined): void {
    this.pointed = place;
    if (!place) {
      this.reading.textContent = "Drag a cell up or down: the picture follows. A row's name chooses its class.";
      return;
    }
    const { label, d } = place;
    const { data } = this.board;
    const value = this.value(label, d);
    const moved = this.offsetOf(label, d);
    const word = data.labels.at(label)?.at(d);
    const model = data.decoders.length > 1 ? `${data.decoders[this.lead].title}, ` : "";
    this.reading.textContent =
      `${model}class ${data.classes[label]}, dimension ${d}${word ? ` (${word})` : ""}: ` +
      `${this.told(this.score(label, d, value), value)}${moved ? `, moved by ${signed(moved)}` : ""}`;
  }
}
