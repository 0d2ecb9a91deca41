// A small chart over the half steps: its numbers, and where the picture stands.

import { extent } from "d3-array";
import { scaleLinear } from "d3-scale";
import { line as path } from "d3-shape";

import type { Pen } from "../core/canvas";
import type { Look } from "../core/look";
import { indices, shown } from "../core/numbers";
import { ScrubbedPanel } from "../core/scrubbed";
import { line, strokeIn } from "../core/shapes";

const EDGE = 8;
const UNDER = 19; // CSS pixels below the curves, for the names of half steps, in ordinary type
const EVERY = 10; // half steps from one name to the next

export interface Curve {
  /** By half step; null: not known yet. */
  readonly values: readonly (number | null)[];
  readonly colour: string;
  readonly dashed?: boolean;
}

interface ChartScene {
  readonly look: Look;
  readonly curves: readonly Curve[];
  readonly span: readonly [number, number];
  readonly position: number;
}

/** From where to where an axis goes: over all numbers, and never over less than `least`, so that little looks like little. */
export function spanOf(values: readonly number[], least: number): [number, number] {
  const [low = 0, high = 0] = extent(values);
  return [Math.min(low, high - least), high];
}

export class Chart extends ScrubbedPanel<ChartScene> {
  private left(look: Look): number {
    return 40 * look.scale;
  }

  private x({ look, curves }: ChartScene): (frame: number) => number {
    return scaleLinear([0, curves[0].values.length - 1], [this.left(look), this.width - EDGE]);
  }

  protected places(scene: ChartScene): number[] {
    return indices(scene.curves[0].values.length).map(this.x(scene));
  }

  protected paint(pen: Pen, scene: ChartScene): void {
    const { look, curves, span, position } = scene;
    const { theme } = look;
    const x = this.x(scene);
    const y = scaleLinear(span, [this.height - UNDER * look.scale, EDGE]);
    pen.font = look.type(13);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.lineWidth = 1;
    const ticks = y.ticks(3);
    const decimals = ticks.every(Number.isInteger) ? 0 : 1;
    for (const tick of ticks) {
      pen.strokeStyle = theme.grid;
      line(pen, this.left(look), y(tick), this.width - EDGE, y(tick));
      pen.fillStyle = theme.muted;
      pen.fillText(shown(tick, decimals), this.left(look) - 6, y(tick) + 1);
    }
    pen.textBaseline = "alphabetic";
    const last = curves[0].values.length - 1;
    for (let frame = 0; frame <= last; frame += EVERY) {
      pen.textAlign = frame === 0 ? "left" : frame === last ? "right" : "center";
      pen.fillText(frame ? `M ${frame / 2}` : "start", x(frame), this.height - 3);
    }
    pen.textAlign = "left";
    for (const { values, colour, dashed } of curves) {
      strokeIn(pen, colour, dashed ? 2 : 2.5);
      pen.setLineDash(dashed ? [5, 4] : []);
      pen.beginPath();
      path<number | null>(
        (_, frame) => x(frame),
        (value) => y(value ?? 0),
      )
        .defined((value) => value !== null)
        .context(pen)(values);
      pen.stroke();
    }
    pen.setLineDash([]);
    strokeIn(pen, theme.accent, 2);
    line(pen, x(position), 0, x(position), this.height - UNDER * look.scale);
  }
}
