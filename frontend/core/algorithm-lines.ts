// The algorithm beside a picture: a line per step, the current one lit, its numbers below the mathematics.

import "./algorithm.css";
import { element, replaceButtons } from "./dom";

interface Options {
  /** What stands under the lines. */
  readonly below?: readonly Node[];
  /** Hears which line is clicked. */
  readonly go?: (line: number) => void;
}

export class AlgorithmLines {
  readonly root = element("div", {
    className: "algorithm",
    role: "group",
    "aria-label": "The algorithm, line by line",
  });
  /** Of which capsules the numbers are. */
  readonly pair = element("div", { className: "pair" });
  private rows: { row: HTMLElement; numbers: HTMLElement }[] = [];
  private maths = "";
  private go: ((line: number) => void) | undefined;

  /** maths: the lines, in HTML. */
  setLines(maths: readonly string[], { below = [], go }: Options = {}): void {
    this.go = go;
    const all = maths.join("\n");
    if (all === this.maths) return; // one of them may be pressed just now
    this.maths = all;
    this.rows = maths.map((innerHTML, k) => {
      const numbers = element("span", { className: "numbers" });
      const parts = [element("span", { className: "math", innerHTML }), numbers];
      const row = go
        ? element("button", { className: "line", type: "button", onclick: () => this.go?.(k) }, ...parts)
        : element("div", { className: "line" }, ...parts);
      return { row, numbers };
    });
    replaceButtons(this.root, this.pair, ...this.rows.map(({ row }) => row), ...below);
  }

  /** Light a line, or several that are one step, and write each line's numbers into it. */
  light(lit: number | readonly number[], texts: readonly string[]): void {
    this.rows.forEach(({ row, numbers }, k) => {
      const now = [lit].flat().includes(k);
      row.classList.toggle("lit", now);
      row.setAttribute("aria-current", now ? "step" : "false");
      numbers.textContent = texts[k];
    });
  }
}
