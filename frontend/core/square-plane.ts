// A square of the plane around the origin, in which vectors have their tips.

import { Panel, type Pen } from "./canvas";
import type { Look } from "./look";
import { line, ring, type Spot, strokeIn } from "./shapes";

export abstract class SquarePlane<Shown> extends Panel<Shown> {
  private reach = 1;

  /** So many CSS pixels a side, for coordinates up to `reach`. */
  fit(side: number, reach: number): void {
    this.width = this.height = side;
    this.reach = reach;
  }

  /** Where a vector's tip lies. */
  place([x, y]: readonly number[]): Spot {
    const { reach, width } = this;
    return { x: ((x + reach) / (2 * reach)) * width, y: ((reach - y) / (2 * reach)) * width };
  }

  /** The vector whose tip is at a place. */
  vector(x: number, y: number): [number, number] {
    const { reach, width } = this;
    const at = (pixels: number): number => (pixels / width) * 2 * reach - reach;
    return [at(x), -at(y)];
  }

  /** CSS pixels of the length 1. */
  protected get unit(): number {
    return this.width / (2 * this.reach);
  }

  /** The axes, and the circle that squash keeps vectors inside of. */
  protected axes(pen: Pen, { theme, scale }: Look): void {
    const origin = this.place([0, 0]);
    strokeIn(pen, theme.grid, scale);
    line(pen, 0, origin.y, this.width, origin.y);
    line(pen, origin.x, 0, origin.x, this.width);
    pen.strokeStyle = theme.muted;
    pen.setLineDash([5 * scale, 5 * scale]);
    ring(pen, [origin.x, origin.y], this.unit);
    pen.setLineDash([]);
  }
}
