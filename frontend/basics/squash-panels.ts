// s and v in the plane, and the curve of their lengths.

import { scaleLinear } from "d3-scale";

import { Panel, type Pen } from "../core/canvas";
import type { Look } from "../core/look";
import { indices, largest, shown } from "../core/numbers";
import { arrow, disc, fitted, haloed, line, type Spot, strokeIn } from "../core/shapes";
import { SquarePlane } from "../core/square-plane";
import { squash, squashed } from "../core/vectors";
import { fanOut, NAME, NAMED } from "./names";

export interface SquashState {
  readonly look: Look;
  readonly length: number;
  /** In radians. */
  readonly angle: number;
  readonly longest: number;
  readonly held: boolean;
  readonly classes: readonly string[];
  readonly sums: Float32Array;
  readonly lengths: Float32Array;
}

export class VectorPlane extends SquarePlane<SquashState> {
  protected paint(pen: Pen, { look, length, angle, held }: SquashState): void {
    const { theme, scale } = look;
    const vector = [length * Math.cos(angle), length * Math.sin(angle)];
    const [origin, tip, end] = [this.place([0, 0]), this.place(vector), this.place(squash(vector))];
    this.axes(pen, look);
    arrow(pen, origin, tip, 4 * scale, theme.classes[0]);
    arrow(pen, origin, end, 9 * scale, theme.accent, theme.ground);
    disc(pen, [tip.x, tip.y], (held ? 13 : 10) * scale, theme.classes[0]);
    const aside = 22 * scale;
    const beside = ({ x, y }: Spot, turn: number): [number, number] => [
      x + aside * Math.cos(angle + turn),
      y - aside * Math.sin(angle + turn) + 6 * scale,
    ];
    pen.font = look.type(20, "bold");
    haloed(pen, "s", ...beside(tip, 1.3), theme, 5);
    haloed(pen, "v", ...beside(end, -1.6), theme, 5);
    pen.font = look.type(14);
    // The word stands where the arrows are not.
    haloed(pen, "length 1", origin.x, origin.y + (angle > 0 ? 1 : -1) * (this.unit + 12 * scale) + 5 * scale, theme);
  }
}

export class SquashCurve extends Panel<SquashState> {
  protected paint(pen: Pen, scene: SquashState): void {
    const { look, length, longest, classes, sums, lengths } = scene;
    const { theme, scale } = look;
    const most = Math.max(longest, 1.06 * Math.max(...sums));
    const frame = { left: 44 * scale, right: this.width - 10, top: 30 * scale, bottom: this.height - 44 * scale };
    const x = scaleLinear([0, most], [frame.left, frame.right]);
    const y = scaleLinear([0, 1], [frame.bottom, frame.top]);
    pen.font = look.type(14);
    strokeIn(pen, theme.grid, 1);
    pen.fillStyle = theme.muted;
    pen.textAlign = "right";
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      line(pen, frame.left, y(tick), frame.right, y(tick));
      pen.fillText(String(tick), frame.left - 6, y(tick) + 5 * scale);
    }
    pen.textAlign = "center";
    for (const tick of x.ticks(Math.min(8, Math.floor(this.width / (60 * scale))))) {
      pen.fillText(String(tick), x(tick), frame.bottom + 17 * scale);
    }
    pen.fillStyle = theme.text;
    pen.font = look.type(15, "600");
    pen.fillText("‖s‖, before", (frame.left + frame.right) / 2, frame.bottom + 38 * scale);
    pen.textAlign = "left";
    pen.fillText("‖v‖, after", 0, 14 * scale);
    pen.strokeStyle = theme.muted;
    pen.setLineDash([5, 5]);
    line(pen, x(0), y(0), x(1), y(1));
    pen.setLineDash([]);
    pen.font = look.type(14);
    pen.fillText("as it was", x(1) + 8 * scale, y(1) - 6 * scale);
    strokeIn(pen, theme.text, 3);
    pen.beginPath();
    for (const k of indices(161)) pen.lineTo(x((most * k) / 160), y(squashed((most * k) / 160)));
    pen.stroke();
    pen.font = look.type(15, "bold");
    const widest = NAME * (frame.right - frame.left);
    const named = classes.map((name, j) => ({ x: x(sums[j]), y: y(lengths[j]), text: fitted(pen, name, widest) }));
    // Over the short ones the curve leaves room; a long one has its name below the curve.
    const known = new Set(largest(lengths, NAMED));
    const short = named.filter((_, j) => lengths[j] < 0.5 && known.has(j));
    fanOut(pen, short, y(0.78), [frame.left + 4, x(Math.min(most, 2))], look);
    named.forEach(({ x, y, text }, j) => {
      disc(pen, [x, y], 6 * scale, theme.classes[j]);
      strokeIn(pen, theme.ground, 1.5);
      pen.stroke();
      const half = pen.measureText(text).width / 2;
      if (lengths[j] >= 0.5 && known.has(j)) haloed(pen, text, Math.min(x, frame.right - half), y + 25 * scale, theme);
    });
    const [across, down] = [x(length), y(squashed(length))];
    strokeIn(pen, theme.accent, 2);
    pen.setLineDash([3, 4]);
    line(pen, across, frame.bottom, across, down);
    line(pen, frame.left, down, across, down);
    pen.setLineDash([]);
    disc(pen, [across, down], 9 * scale, theme.accent);
    this.canvas.setAttribute("aria-label", `Length ${shown(length, 2)} becomes ${shown(squashed(length), 2)}`);
  }
}
