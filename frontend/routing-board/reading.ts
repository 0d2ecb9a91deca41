// The algorithm with the numbers of one capsule pair in it, and the capsules as a list.

import { AlgorithmLines } from "../core/algorithm-lines";
import { aloud } from "../core/aloud";
import { button, element, replaceButtons, tabled } from "../core/dom";
import { indices, shown } from "../core/numbers";
import { drawIn } from "../core/sight";
import type { Run, View } from "./run";
import type { DrawState, Select } from "./panel";

/** The lines of the algorithm, the current one lit, with the numbers of capsule i and the chosen class j. */
export class Algorithm extends AlgorithmLines {
  private readonly says = aloud(element("div", { className: "says" }));

  /** Pixels that its lines take, without what is said of one. */
  get height(): number {
    return this.root.offsetHeight - this.says.offsetHeight;
  }

  load(run: Run, go: (line: number) => void): void {
    this.setLines(
      run.data.lines.map(({ math }) => math),
      { below: [this.says], go },
    );
  }

  draw({ run, view, capsule }: DrawState): void {
    const { lines, classes } = run.data;
    this.pair.textContent = `i = capsule ${run.number(capsule)}, j = ${classes[run.upper]}`;
    const texts = lines.map((_, k) => (k <= view.line ? run.written(k, view.t, capsule) : "…"));
    this.light(view.line, texts);
    this.says.textContent = run.says(view.line, view.t);
  }
}

interface Column {
  readonly name: string;
  readonly title: string;
  readonly value: (view: View, capsule: number) => number;
}

const LISTED = 6; // capsules in the list
const FIRST = "share"; // the column by which the capsules are sorted at first

/** The capsules that give the chosen class most, or come first by another column. */
export class List {
  readonly root = element("div", { className: "list" });
  order = FIRST;
  private stamp = "";
  private held: readonly unknown[] = [];

  constructor(
    private readonly onSelect: Select,
    private readonly onSorted: () => void,
  ) {}

  /** Of another run; what shows the same numbers stays, one of its rows may be pressed just now. */
  load(run: Run): void {
    const { shares, agreement, vote_lengths, presence, upper, below } = run.data;
    const held = [shares, agreement, vote_lengths, presence, upper, run.iterations, JSON.stringify(below)];
    if (held.every((each, place) => each === this.held[place])) return;
    this.held = held;
    this.stamp = "";
  }

  /** Out of sight not before there is time. */
  draw(state: DrawState): void {
    const stamp = [state.view.frame, state.capsule, this.order].join();
    if (stamp === this.stamp) return;
    this.stamp = stamp;
    drawIn(this.root, () => this.fill(state));
  }

  private fill(state: DrawState): void {
    const { run, capsule } = state;
    const view = run.state(state.view.frame); // of the frame, not of the way to it
    const columns = columnsOf(run);
    const by = columns.find(({ name }) => name === this.order) ?? columns[0]; // another algorithm may not have it
    const { value } = by;
    const sorted = indices(run.lower).sort((a, b) => value(view, b) - value(view, a));
    const head = columns.map(({ name, title }) => {
      const chosen = name === by.name;
      const sort = button(title + (chosen ? " ▾" : ""), `Sort by ${title}`, () => {
        this.order = name;
        this.draw(state);
        this.onSorted();
      });
      return element("th", { scope: "col", "aria-sort": chosen ? "descending" : "none" }, sort);
    });
    const rows = sorted.slice(0, LISTED).map((i) => {
      const [row, column, kind] = run.networkPlace(i);
      const open = element("button", { type: "button", textContent: String(run.number(i)), title: run.label(i) });
      const where = element("span", { textContent: ` ${row},${column} type ${kind}` });
      const numbers = columns.map((each) => {
        const value = each.value(view, i);
        return element("td", { textContent: Number.isNaN(value) ? "…" : shown(value) }); // not known yet, as in the lines
      });
      const made = element(
        "tr",
        { className: i === capsule ? "chosen" : "" },
        element("td", {}, open, where),
        ...numbers,
      );
      made.addEventListener("click", (event) => this.onSelect(i, event.shiftKey));
      return made;
    });
    replaceButtons(this.root, element("table", {}, ...tabled(["capsule", ...head], ...rows)));
  }
}

function columnsOf(run: Run): Column[] {
  const { symbol, presence, agreement, vote_lengths: lengths } = run.data;
  const at = (i: number): number => i * run.upperCount + run.upper;
  return [
    { name: FIRST, title: symbol, value: (view, i) => view.shares[at(i)] },
    agreement
      ? { name: "agreement", title: "û·v", value: (view, i) => view.agreement?.[at(i)] ?? Number.NaN }
      : { name: "presence", title: "a", value: (_, i) => presence[i] },
    { name: "length", title: "‖û‖", value: (_, i) => lengths[i] },
  ];
}
