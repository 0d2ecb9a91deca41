// Sixteen sliders: what is added to each number of the class capsule. Those whose meaning has a word come first and are
// large, the others are folded away until one of them is moved.

import { element, enable, quietOutput } from "../core/dom";
import { indices, signed } from "../core/numbers";
import type { HandPanel, Workbench } from "./panel";

interface Slider {
  readonly row: HTMLElement;
  readonly input: HTMLInputElement;
  readonly value: HTMLElement;
  readonly word: HTMLElement;
  readonly output: HTMLOutputElement;
  /** The offset that is written there. */
  offset?: number | undefined;
}

export class Sliders implements HandPanel {
  readonly root: HTMLElement;
  private readonly sliders: Slider[];
  private readonly zero: HTMLButtonElement;
  private readonly first = element("div", { className: "sliders" });
  private readonly others = element("div", { className: "sliders" });
  private readonly summary = element("summary");
  private readonly fold = element("details", { className: "others" }, this.summary, this.others);
  /** Which of them are folded away, and whether one of those is off zero. */
  private folded: number[] = [];
  private away = false;

  constructor(private readonly board: Workbench) {
    this.sliders = board.data.decoders[0].poses[0].map((_, dimension) => this.slider(dimension));
    this.zero = element("button", { type: "button", className: "zero", textContent: "All to zero" });
    this.zero.onclick = (event) => board.reset(event);
    const hint = element("span", { className: "hint", textContent: "double-click a slider: back to zero" });
    this.root = element(
      "div",
      { className: "controls" },
      this.first,
      this.fold,
      element("div", { className: "below" }, this.zero, hint),
    );
  }

  private slider(dimension: number): Slider {
    const { board } = this;
    const input = element("input", { type: "range", id: `dimension-${dimension}` });
    const value = element("span", { className: "value" });
    const word = element("span", { className: "word" });
    const output = quietOutput();
    output.htmlFor.add(input.id);
    const label = element("label", { htmlFor: input.id }, element("b", { textContent: `${dimension}` }), value, word);
    input.oninput = (event) => board.offset(dimension, input.valueAsNumber, board.hand ?? event.timeStamp);
    input.onpointerdown = () => (board.dragging = true);
    // `change` comes when the pointer lets go, but at every single key.
    input.onchange = () => (board.dragging ? board.leave() : board.leaveSoon());
    input.ondblclick = (event) => {
      board.offset(dimension, 0, event.timeStamp);
      board.leave();
    };
    input.setAttribute("aria-keyshortcuts", "Delete Backspace");
    input.onkeydown = (event) => {
      if (event.key !== "Delete" && event.key !== "Backspace") return;
      event.preventDefault();
      board.offset(dimension, 0, event.timeStamp);
      board.leaveSoon();
    };
    return { row: element("div", { className: "slider" }, label, input, output), input, value, word, output };
  }

  refresh(): void {
    const { data, state } = this.board;
    const several = data.decoders.length > 1;
    // The words of one model say nothing of another's numbers.
    const words = several ? [] : (data.labels.at(state.upper) ?? []);
    this.arrange(words);
    this.sliders.forEach((slider, d) => {
      const { row, input, value } = slider;
      const word = words.at(d) ?? "";
      Object.assign(input, { min: -data.reach, max: data.reach, step: data.step });
      value.textContent = several ? "" : signed(data.decoders[0].poses[state.upper][d]);
      slider.word.textContent = word;
      const stands = data.decoders.map(({ title, poses }) => `${title} ${signed(poses[state.upper][d])}`).join(", ");
      row.title = `dimension ${d} of the capsule${word && `, ${word}`}: ${several ? stands : value.textContent}`;
      input.setAttribute("aria-label", row.title);
      slider.offset = undefined;
    });
  }

  /** What came while a slider was held and has other words. */
  released(): void {
    this.refresh();
    this.write();
  }

  /**
   * Those with a word first, all where none has one. A slider that is held stays where it is, as it would drop out of
   * the hand, and the one that has the focus keeps it.
   */
  private arrange(words: readonly string[]): void {
    if (this.board.dragging && this.first.hasChildNodes()) return;
    const worded = words.some(Boolean);
    const folded = worded ? indices(this.sliders.length).filter((d) => !words[d]) : [];
    if (String(folded) === String(this.folded) && this.first.hasChildNodes()) return;
    this.folded = folded;
    this.away = false;
    this.fold.open = false;
    this.fold.hidden = !folded.length;
    const shown = this.sliders.length - folded.length;
    this.first.style.setProperty("--rows", String(Math.max(8, Math.ceil(shown / 2))));
    this.others.style.setProperty("--rows", String(Math.ceil(folded.length / 2)));
    this.summary.textContent = `${folded.length} number${folded.length === 1 ? "" : "s"} whose meaning has no word`;
    this.root.classList.toggle("worded", worded);
    const rows = this.sliders.map(({ row }) => row);
    const focused = this.sliders.findIndex(({ input }) => input.matches(":focus"));
    this.first.replaceChildren(...rows.filter((_, d) => !folded.includes(d)));
    this.others.replaceChildren(...folded.map((d) => rows[d]));
    if (folded.includes(focused)) this.fold.open = true;
    if (focused >= 0) this.sliders[focused].input.focus({ preventScroll: true });
  }

  /** The offsets, where they changed: fifteen of sixteen do not, while one moves. */
  write(): void {
    const { data, state } = this.board;
    this.sliders.forEach((slider, d) => {
      const { row, input, output } = slider;
      const offset = state.offsets[d];
      if (input.valueAsNumber !== offset) input.value = String(offset);
      if (slider.offset === offset) return;
      slider.offset = offset;
      output.textContent = offset ? signed(offset) : "0";
      input.setAttribute("aria-valuetext", `offset ${signed(offset)}`);
      row.classList.toggle("off-zero", offset !== 0);
      row.style.setProperty("--at", String(0.5 + offset / (2 * data.reach))); // where the thumb stands, 0..1
    });
    const away = this.folded.some((d) => state.offsets[d]);
    if (away && !this.away) this.fold.open = true;
    this.away = away;
    enable(this.zero, state.offsets.some(Boolean));
  }
}
