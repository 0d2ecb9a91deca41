// The plane: the points in the colours of those that own them, the Gaussians as ellipses, and beside votes the mixture.

import { Panel, type Pen } from "../core/canvas";
import type { Look } from "../core/look";
import { shown } from "../core/numbers";
import { bubble, disc, haloed, line, ring, strokeIn } from "../core/shapes";
import { semiAxes } from "../core/vectors";
import type { Gaussian, Point } from "./em";
import { changed, type Frame, mixed } from "./run";

const EDGE = 10; // CSS pixels around what coordinates reach

interface PlaneScene {
  readonly look: Look;
  readonly points: readonly Point[];
  readonly frame: Frame;
  /** The mixture at the same half step, where the points are votes. */
  readonly beside: Frame | null;
  /** The point that is looked at, and the one under the pointer. */
  readonly chosen: number | null;
  readonly pointed: number | null;
  /** The point whose numbers stand beside the plane: point i. */
  readonly read: number;
  readonly symbol: string;
}

export class Plane extends Panel<PlaneScene> {
  private reach = 1;

  fit(side: number, reach: number): void {
    this.width = this.height = side;
    this.reach = reach;
  }

  private get unit(): number {
    return (this.width - 2 * EDGE) / (2 * this.reach);
  }

  place([x, y]: readonly number[]): [number, number] {
    return [EDGE + (x + this.reach) * this.unit, EDGE + (this.reach - y) * this.unit];
  }

  /** The coordinates, to so many decimals, of a place. */
  coordinates([x, y]: readonly [number, number], decimals: number): [number, number] {
    const { reach, unit } = this;
    const limit = (value: number): number => Number(Math.max(-reach, Math.min(reach, value)).toFixed(decimals)) || 0;
    return [limit((x - EDGE) / unit - reach), limit(reach - (y - EDGE) / unit)];
  }

  protected paint(pen: Pen, scene: PlaneScene): void {
    const { look, frame, beside, points } = scene;
    const { theme } = look;
    this.ground(pen, look);
    pen.save();
    pen.beginPath();
    pen.rect(EDGE, EDGE, this.width - 2 * EDGE, this.height - 2 * EDGE);
    pen.clip();
    frame.gaussians?.forEach((gaussian, k) => {
      this.ellipse(pen, gaussian, theme.classes[k], frame.strengths?.[k] ?? 0);
    });
    if (beside?.gaussians) {
      pen.setLineDash([7, 5]);
      beside.gaussians.forEach((gaussian, k) => this.outline(pen, gaussian, 2, theme.classes[k], 2));
    }
    pen.restore();
    points.forEach((point, i) => this.point(pen, scene, point, i));
    if (beside) {
      strokeIn(pen, theme.text, 2);
      for (const i of changed(frame.owned, beside.owned)) ring(pen, this.place(points[i]), 11 * look.scale);
    }
    this.names(pen, scene);
    this.letter(pen, scene);
    this.tip(pen, scene);
  }

  private ground(pen: Pen, look: Look): void {
    const { theme } = look;
    const [left, top] = this.place([-this.reach, this.reach]);
    const [right, bottom] = this.place([this.reach, -this.reach]);
    const [x, y] = this.place([0, 0]);
    strokeIn(pen, theme.grid, 1);
    pen.strokeRect(left, top, right - left, bottom - top);
    line(pen, left, y, right, y);
    line(pen, x, top, x, bottom);
    pen.font = look.type(13);
    pen.fillStyle = theme.muted;
    pen.textAlign = "right";
    pen.fillText(shown(this.reach, 0), right - 4, y - 5);
    pen.textAlign = "left";
    pen.fillText(shown(-this.reach, 0), left + 4, y - 5);
    pen.fillText(shown(this.reach, 0), x + 5, top + 13 * look.scale);
    pen.fillText(shown(-this.reach, 0), x + 5, bottom - 5);
  }

  /** At one and two deviations; the stronger the Gaussian, the thicker. */
  private ellipse(pen: Pen, gaussian: Gaussian, colour: string, strength: number): void {
    for (const deviations of [2, 1]) {
      this.trace(pen, gaussian, deviations);
      pen.globalAlpha = 0.1;
      pen.fillStyle = colour;
      pen.fill();
      pen.globalAlpha = 1;
      this.outline(pen, gaussian, deviations, colour, 1 + 4 * strength);
    }
  }

  private trace(pen: Pen, gaussian: Gaussian, deviations: number): void {
    const { long, short, angle } = semiAxes(...gaussian.covariance);
    const [x, y] = this.place(gaussian.mean);
    const size = deviations * this.unit;
    pen.beginPath();
    pen.ellipse(x, y, long * size, short * size, -angle, 0, 2 * Math.PI);
  }

  private outline(pen: Pen, gaussian: Gaussian, deviations: number, colour: string, width: number): void {
    this.trace(pen, gaussian, deviations);
    strokeIn(pen, colour, width);
    pen.stroke();
  }

  private point(pen: Pen, { look, frame, chosen, pointed }: PlaneScene, point: Point, i: number): void {
    const { theme } = look;
    const shares = frame.owned?.[i];
    const at = this.place(point);
    const radius = (3 + 4.5 * Math.sqrt(point[2])) * look.scale;
    disc(pen, at, radius, shares ? mixed(theme.classes, shares) : theme.muted);
    strokeIn(pen, theme.ground, 1.5);
    pen.stroke();
    if (i !== chosen && i !== pointed) return;
    strokeIn(pen, theme.accent, i === chosen ? 3.5 : 2);
    ring(pen, at, radius + 3.5);
  }

  /** The number of each Gaussian at its mean; of several at one place, all of them. */
  private names(pen: Pen, { look, frame }: PlaneScene): void {
    const named = new Map<string, { at: [number, number]; text: string }>();
    frame.gaussians?.forEach(({ mean }, k) => {
      const at = this.place(mean);
      const near = [...named.values()].find((other) => Math.hypot(other.at[0] - at[0], other.at[1] - at[1]) < 40);
      if (near) near.text += `, ${k + 1}`;
      else named.set(String(k), { at, text: String(k + 1) });
    });
    pen.font = look.type(19, "bold");
    pen.textBaseline = "middle";
    for (const { at, text } of named.values()) haloed(pen, text, ...at, look.theme, 5);
    pen.textBaseline = "alphabetic";
  }

  /** The point whose numbers stand beside the plane is called i in them. */
  private letter(pen: Pen, { look, points, pointed, read }: PlaneScene): void {
    if (pointed !== null) return; // the bubble says whose numbers they are
    const [x, y] = this.place(points[read]);
    pen.font = look.type(14, "bold");
    pen.textBaseline = "middle";
    haloed(pen, "i", x, y, look.theme, 3);
    pen.textBaseline = "alphabetic";
  }

  private tip(pen: Pen, { look, points, frame, pointed, symbol }: PlaneScene): void {
    if (pointed === null || pointed >= points.length) return;
    const [x, y] = points[pointed];
    const lines = [`point ${pointed + 1}  (${shown(x, 2)}, ${shown(y, 2)})`];
    frame.owned?.[pointed].forEach((share, k) => lines.push(`${symbol} for ${k + 1}: ${shown(share, 3)}`));
    bubble(pen, lines, this.place(points[pointed]), this, look);
  }
}
