// The two branches of the margin loss over the length of a class capsule, and the capsules on them.

import { minIndex } from "d3-array";
import { scaleLinear, type ScaleLinear } from "d3-scale";

import { Panel, type Pen } from "../core/canvas";
import type { Look } from "../core/look";
import { indices, largest } from "../core/numbers";
import { arrow, disc, fitted, haloed, line, ring, type Spot, strokeIn } from "../core/shapes";
import { marginGradient, marginLoss, type Margins } from "./margin";
import { fanOut, NAME, NAMED } from "./names";

const NEAR = 28; // CSS pixels from a point at which it can be taken, in ordinary type
const CROWDED = 0.03; // loss below which names are fanned out
const PUSH = 34; // CSS pixels of an arrow for a gradient of 1, in ordinary type

interface MarginState {
  readonly look: Look;
  readonly margins: Margins;
  readonly classes: readonly string[];
  readonly targets: readonly boolean[];
  /** ‖v‖ of every class: as it is now, and as the network has it. */
  readonly lengths: readonly number[];
  readonly own: Float32Array;
  readonly held: number | null;
}

export class MarginChart extends Panel<MarginState> {
  private x: ScaleLinear<number, number> = scaleLinear();
  private y: ScaleLinear<number, number> = scaleLinear();

  /** The class whose point is nearest to a place, if one is near. */
  near(x: number, y: number, wider: number): number | null {
    if (!this.shown) return null;
    const { lengths, look } = this.shown;
    const far = Array.from(lengths, (_, j) => Math.hypot(this.spot(j).x - x, this.spot(j).y - y));
    const nearest = minIndex(far);
    return far[nearest] < NEAR * look.scale * wider ? nearest : null;
  }

  /** The length at a place. */
  length(x: number): number {
    return Math.max(0, Math.min(1, this.x.invert(x)));
  }

  /** Where the point of a class lies. */
  spot(j: number): Spot {
    if (!this.shown) return { x: 0, y: 0 };
    const { lengths, targets, margins } = this.shown;
    return { x: this.x(lengths[j]), y: this.y(marginLoss(lengths[j], targets[j], margins)) };
  }

  protected paint(pen: Pen, scene: MarginState): void {
    const { look, margins, classes, targets, lengths, own, held } = scene;
    const { theme, scale } = look;
    const frame = { left: 44 * scale, right: this.width - 12, top: 46 * scale, bottom: this.height - 44 * scale };
    this.x = scaleLinear([0, 1], [frame.left, frame.right]);
    this.y = scaleLinear([0, 1], [frame.bottom, frame.top]);
    const { x, y } = this;
    pen.font = look.type(14);
    strokeIn(pen, theme.grid, 1);
    pen.fillStyle = theme.muted;
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      line(pen, frame.left, y(tick), frame.right, y(tick));
      pen.textAlign = "right";
      pen.fillText(String(tick), frame.left - 6, y(tick) + 5 * scale);
      pen.textAlign = tick === 1 ? "right" : "center";
      pen.fillText(String(tick), tick === 1 ? frame.right : x(tick), frame.bottom + 17 * scale);
    }
    pen.fillStyle = theme.text;
    pen.font = look.type(15, "600");
    pen.textAlign = "center";
    pen.fillText("length ‖v‖ of a class capsule", (frame.left + frame.right) / 2, frame.bottom + 38 * scale);
    pen.textAlign = "left";
    pen.fillText("loss of a class", 0, 14 * scale);
    pen.strokeStyle = theme.muted;
    pen.setLineDash([4, 5]);
    for (const margin of margins.slice(0, 2)) line(pen, x(margin), frame.top, x(margin), frame.bottom);
    pen.setLineDash([]);
    pen.font = look.type(15);
    haloed(pen, "m⁺", x(margins[0]), frame.top - 7 * scale, theme);
    haloed(pen, "m⁻", x(margins[1]), frame.top - 7 * scale, theme);
    for (const there of [false, true]) {
      strokeIn(pen, there ? theme.positive : theme.negative, 3.5);
      pen.beginPath();
      for (const k of indices(201)) pen.lineTo(x(k / 200), y(marginLoss(k / 200, there, margins)));
      pen.stroke();
    }
    pen.font = look.type(15, "600");
    const word = (text: string, at: number, there: boolean): void => {
      pen.fillStyle = there ? theme.positive : theme.negative;
      pen.textAlign = there ? "left" : "right";
      pen.fillText(text, x(at) + (there ? 12 : -12) * scale, y(marginLoss(at, there, margins)) - 6 * scale);
    };
    word("in the image", 0.12, true);
    word("not in the image", 0.88, false); // left of the usual m⁺
    pen.textAlign = "left";
    classes.forEach((_, j) => this.push(pen, scene, j));
    pen.font = look.type(15, "bold");
    const widest = NAME * (frame.right - frame.left);
    const spots = classes.map((name, j) => ({ ...this.spot(j), text: fitted(pen, name, widest) }));
    // Those that cost hardly anything crowd on the axis; the others have their names above them.
    const crowded = (j: number): boolean => !targets[j] && marginLoss(lengths[j], false, margins) < CROWDED;
    const named = new Set(largest(lengths, NAMED, held ?? targets.indexOf(true)));
    const inside = [frame.left + 4, frame.right] as const;
    fanOut(
      pen,
      spots.filter((_, j) => crowded(j) && named.has(j)),
      y(0.1),
      inside,
      look,
    );
    spots.forEach((spot, j) => {
      strokeIn(pen, theme.muted, 1.5);
      const from: readonly [number, number] = [x(own[j]), y(marginLoss(own[j], targets[j], margins))];
      if (Math.abs(own[j] - lengths[j]) >= 0.005) ring(pen, from, 6 * scale);
      disc(pen, [spot.x, spot.y], (j === held ? 11 : 8) * scale, theme.classes[j]);
      pen.strokeStyle = theme.ground;
      pen.stroke();
      if (crowded(j) || !named.has(j)) return;
      const half = pen.measureText(spot.text).width / 2;
      haloed(
        pen,
        spot.text,
        Math.max(frame.left + half, Math.min(spot.x, frame.right - half)),
        spot.y - 14 * scale,
        theme,
      );
    });
  }

  /** Where training would move a class capsule, and how strongly. */
  private push(pen: Pen, { look, margins, targets, lengths }: MarginState, j: number): void {
    const gradient = marginGradient(lengths[j], targets[j], margins);
    if (!gradient) return;
    const { x, y } = this.spot(j);
    const away = 8 * look.scale * Math.sign(-gradient);
    const to = x + away - gradient * PUSH * look.scale;
    arrow(pen, { x: x + away, y }, { x: to, y }, 3 * look.scale, look.theme.text, look.theme.ground);
  }
}
