// Length of every class, how the selected capsule turns from class to class, and its vote number by number.

import { extent } from "d3-array";
import { scaleLinear } from "d3-scale";
import { line as path } from "d3-shape";

import type { Pen } from "../core/canvas";
import { pointed } from "../core/dom";
import { indices, largest, shown } from "../core/numbers";
import { disc, fitted, line, roomFor, strokeIn } from "../core/shapes";
import type { Run } from "./run";
import { headings, type DrawState, BoardPanel } from "./panel";

/** Classes that have a bar; of more of them the most active ones and the chosen one. */
const MOST_BARS = 24;

/** ‖v‖ or a of every class as bars; the untouched run as an outline. */
export class Bars extends BoardPanel {
  row = 1;
  private under = 0;
  private count = 1;
  private listed: readonly number[] = [0];

  constructor(onClass: (upper: number) => void) {
    super("pointable");
    this.canvas.addEventListener("click", (event) => {
      const row = Math.floor((pointed(this.canvas, event)[1] - this.under) / this.row);
      const upper = row < 0 ? undefined : this.listed.at(row);
      if (upper !== undefined) onClass(upper);
    });
  }

  override load(run: Run): void {
    this.count = run.upperCount;
    this.listed = largest(run.part(run.data.lengths, run.iterations - 1, run.upperCount), MOST_BARS, run.upper);
  }

  /** Lines: a bar each, and one that says how many classes have none. */
  static lines(classes: number): number {
    return classes > MOST_BARS ? MOST_BARS + 1 : classes;
  }

  fit(width: number, height: number, under: number): void {
    Object.assign(this, { width, height, under, row: (height - under - 2) / Bars.lines(this.count) });
  }

  protected paint(pen: Pen, { run, view, look }: DrawState): void {
    const { row, listed } = this;
    const { classes, bars } = run.data;
    const { theme } = look;
    const names = listed.map((j) => classes[j]);
    const left = Math.max(44, 10 + roomFor(pen, names, 14, look, 0.4 * this.width));
    const plain = listed.map((j) => (view.lengths ? shown(view.lengths[j], 2) : ""));
    const compared = listed.map((j, line) => {
      const moved = (view.lengths?.[j] ?? 0) - (view.baseLengths?.[j] ?? view.lengths?.[j] ?? 0);
      return plain[line] + (Math.abs(moved) >= 0.005 ? ` (${moved > 0 ? "+" : ""}${shown(moved, 2)})` : "");
    });
    // Room for the longest words behind the longest bar, and for the bar: the outline says as well how far it moved.
    pen.font = look.type(14, "bold");
    const taken = (words: string[]): number =>
      Math.max(46, 8 + Math.max(...words.map((each) => pen.measureText(each).width)));
    const said = this.width - left - taken(compared) < this.width / 4 ? plain : compared;
    const room = taken(said);
    const x = scaleLinear([0, run.top], [left, this.width - room]);
    this.heading(pen, look, bars.titles);
    listed.forEach((j, line) => {
      const y = this.under + line * row;
      const chosen = j === run.upper;
      pen.font = look.type(14, chosen ? "bold" : "");
      pen.textAlign = "right";
      pen.fillStyle = chosen ? theme.accent : theme.text;
      pen.fillText(fitted(pen, classes[j], left - 6), left - 6, y + row / 2 + 5 * look.scale);
      pen.textAlign = "left";
      if (!view.lengths) return;
      const value = view.lengths[j];
      const base = view.baseLengths?.[j];
      pen.fillStyle = theme.classes[j];
      pen.fillRect(left, y + 2, x(value) - left, row - 4);
      if (base !== undefined) {
        strokeIn(pen, theme.text, 1.6);
        pen.setLineDash([3, 2]);
        pen.strokeRect(left, y + 2, x(base) - left, row - 4);
        pen.setLineDash([]);
      }
      pen.fillStyle = theme.text;
      pen.fillText(said[line], x(Math.max(value, base ?? 0)) + 5, y + row / 2 + 5 * look.scale);
    });
    const others = run.upperCount - listed.length;
    if (!others) return;
    pen.font = look.type(14);
    pen.fillStyle = theme.muted;
    const words = fitted(
      pen,
      others === 1 ? "1 other class is not shown" : `${others} other classes are not among the most active`,
      this.width,
    );
    pen.fillText(words, 0, this.under + (listed.length + 0.5) * row + 5 * look.scale);
  }
}

/** What the selected capsule gives to every class, iteration by iteration. */
export class ShareLines extends BoardPanel {
  protected paint(pen: Pen, { run, view, capsule, look }: DrawState): void {
    const { iterations } = run;
    const { classes, symbol, kind } = run.data;
    const { theme } = look;
    const named = roomFor(pen, classes, 14, look, 0.3 * this.width);
    const rows = classes.map((_, j) => indices(iterations).map((t) => run.share(t, capsule, j)));
    const [least = 0, most = 1] = extent([run.data.even[capsule], ...rows.flat()]);
    const margin = Math.max(0.004, 0.08 * (most - least));
    const top = 12 * look.beyond + 1.2 * headings(look).heading;
    const [right, bottom] = [this.width - Math.max(34, named + 9), this.height - 24 * look.scale];
    const y = scaleLinear([Math.max(0, least - margin), Math.min(1, most + margin)], [bottom, top]);
    const written = y.tickFormat(3);
    const apart = (ticks: number[]): boolean => ticks.length < 2 || y(ticks[0]) - y(ticks[1]) > 17 * look.scale;
    const ticks = [3, 2, 1].map((count) => y.ticks(count)).find(apart) ?? [];
    pen.font = look.type(13);
    const left = Math.max(46, 8 + Math.max(0, ...ticks.map((tick) => pen.measureText(written(tick)).width)));
    const across = scaleLinear([0, iterations - 1], [left, right]);
    const x = (t: number): number => (iterations === 1 ? (left + right) / 2 : across(t));
    const title = `${symbol} of capsule ${run.number(capsule)}`;
    this.heading(pen, look, [`${title} to each ${kind}`, title, symbol]);
    pen.font = look.type(13);
    strokeIn(pen, theme.grid, 1);
    pen.fillStyle = theme.muted;
    pen.textAlign = "right";
    for (const tick of ticks) {
      line(pen, left, y(tick), right, y(tick));
      pen.fillText(written(tick), left - 6, y(tick) + 4 * look.scale);
    }
    pen.textAlign = "center";
    for (let t = 0; t < iterations; t++) pen.fillText(String(t + 1), x(t), this.height - 6);
    const now = view.shareStep;
    pen.strokeStyle = theme.muted;
    line(pen, x(now), top, x(now), bottom);
    const order = indices(run.upperCount).sort((a, b) => rows[a][iterations - 1] - rows[b][iterations - 1]);
    const draw = path<number>((_, t) => x(t), y).context(pen);
    for (const j of order) {
      pen.strokeStyle = pen.fillStyle = theme.classes[j];
      pen.lineWidth = (j === run.upper ? 4.5 : 2) * look.beyond;
      pen.beginPath();
      draw(rows[j]);
      pen.stroke();
      rows[j].forEach((value, t) => {
        disc(pen, [x(t), y(value)], (t === now ? 5 : 2.5) * look.beyond, pen.fillStyle);
      });
    }
    // The classes that end at the top and the chosen one are named, where they do not overlap.
    const taken: number[] = [];
    pen.textAlign = "left";
    for (const j of [run.upper, ...order.reverse()]) {
      const at = y(rows[j][iterations - 1]) + 5 * look.scale;
      if (taken.some((other) => Math.abs(other - at) < 17 * look.scale)) continue;
      taken.push(at);
      pen.font = look.type(14, j === run.upper ? "bold" : "");
      pen.fillStyle = theme.text;
      pen.fillText(fitted(pen, classes[j], named + 1), this.width - named - 1, at);
    }
  }
}

/** The selected capsule's vote, number by number, beside what its class has become, with one σ to either side. */
export class VoteBars extends BoardPanel {
  protected paint(pen: Pen, { run, view, capsule, look }: DrawState): void {
    const { classes, poses, variances, tips } = run.data;
    const { theme } = look;
    const { dim } = run;
    const vote = run.vote(capsule);
    const answered = run.answered(view.frame);
    const pose = answered < 0 ? null : run.part(poses, answered, dim);
    const deviation = variances && run.part(variances, Math.max(0, answered), dim).map(Math.sqrt);
    const reach = 1.08 * Math.max(1e-6, ...vote.map(Math.abs), ...poses.map(Math.abs));
    const { under, foot } = headings(look);
    const side = Math.max(12, 9 * look.scale); // of a square in the key
    const [top, bottom] = [under + side + 10, this.height - foot - 2];
    const y = scaleLinear([-reach, reach], [bottom, top]).clamp(true); // a σ that is wider than the frame ends at it
    const ticks = y.ticks(4);
    const written = y.tickFormat(4);
    pen.font = look.type(13);
    const left = Math.max(40, 10 + Math.max(...ticks.map((tick) => pen.measureText(written(tick)).width)));
    const wide = (this.width - left) / dim;
    const { name } = tips[tips.length - 1];
    const title = `Vote û of capsule ${run.number(capsule)}`;
    const titles = [`${title} for ${classes[run.upper]}, and ${name}`, `${title}, and ${name}`, `û and ${name}`];
    this.heading(pen, look, titles);
    pen.font = look.type(13);
    const key = (x: number, colour: string, text: string): void => {
      pen.fillStyle = colour;
      pen.fillRect(x, under + 2, side, side);
      pen.fillStyle = theme.text;
      pen.fillText(text, x + side + 5, under + side + 1);
    };
    key(0, theme.accent, "û");
    key(2 * side + 22 * look.scale, theme.classes[run.upper], name + (deviation ? " ± σ" : ""));
    pen.strokeStyle = theme.grid;
    pen.fillStyle = theme.muted;
    pen.textAlign = "right";
    for (const tick of ticks) {
      line(pen, left, y(tick), this.width, y(tick));
      pen.fillText(written(tick), left - 5, y(tick) + 4 * look.scale);
    }
    pen.textAlign = "center";
    const bar = (x: number, value: number): void => {
      pen.fillRect(x, Math.min(y(0), y(value)), 0.36 * wide, Math.abs(y(value) - y(0)));
    };
    for (let h = 0; h < dim; h++) {
      const x = left + h * wide;
      pen.fillStyle = theme.accent;
      bar(x + 0.12 * wide, vote[h]);
      if (pose) {
        pen.fillStyle = theme.classes[run.upper];
        bar(x + 0.52 * wide, pose[h]);
        pen.strokeStyle = theme.text;
        const middle = x + 0.7 * wide;
        if (deviation) line(pen, middle, y(pose[h] - deviation[h]), middle, y(pose[h] + deviation[h]));
      }
      pen.fillStyle = theme.muted;
      pen.fillText(String(h), x + wide / 2, this.height - 5);
    }
    pen.textAlign = "left";
  }
}
