// The algorithm of which every frame is one round: its lines side by side, the current one lit, and in them the numbers
// of the capsule that is looked at.

import { AlgorithmLines } from "../core/algorithm-lines";
import { element } from "../core/dom";
import { shown } from "../core/numbers";
import { type MapsData, roundAt } from "./data";

export class Lines extends AlgorithmLines {
  update({ fields }: MapsData): void {
    this.root.style.setProperty("--lines", String(fields.lines.length));
    this.setLines(fields.lines.map(({ math }) => math));
  }

  draw(data: MapsData, position: number, capsule: number): void {
    const { lines, classes, upper } = data.fields;
    const looped = lines.flatMap((line, k) => (line.looped ? [k] : []));
    const { round, line } = roundAt(position, looped.length);
    const lit = looped[line];
    this.pair.replaceChildren(`i = capsule ${capsule}`, element("br"), `j = ${classes[upper]}`);
    const texts = lines.map(({ numbers, looped: again }, k) => {
      if (k > lit && again) return "…";
      return numbers.map(({ text }, n) => text + written(data.number(k, n, round, capsule))).join("");
    });
    this.light(lit, texts);
  }
}

function written(value: number): string {
  return Number.isFinite(value) ? shown(value, Math.abs(value) < 0.1 ? 4 : 3) : "…";
}
