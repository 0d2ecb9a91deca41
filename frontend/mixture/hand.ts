// The points in the hand: added, taken, moved and removed, by pointer and by keys.

import { minIndex } from "d3-array";

import { ARROWS, heldByFinger, isTap, ofFinger, pointed, stepped, worked } from "../core/dom";
import { keyOf } from "../core/key";
import type { Point } from "./em";
import type { Plane } from "./plane";

const APART = 0.1; // units between a point and one that is added beside it
const GOLDEN = Math.PI * (3 - Math.sqrt(5)); // radians
const NEAR = 20; // CSS pixels from a point at which it can be taken, in ordinary type

export interface Holder {
  readonly points: readonly Point[];
  readonly chosen: number | null;
  readonly scale: number;
  readonly decimals: number;
  readonly reach: number;
  /** Other points, and which of them is looked at; rest: the visitor leaves them so. */
  lay(points: readonly Point[], chosen: number | null, rest: boolean): void;
  /** Look at a point under the pointer, or at none. */
  point(index: number | null): void;
  /** Say why something is not done. */
  refuse(what: "fewest" | "most"): void;
  readonly fewest: number;
  readonly most: number;
}

export class Hand {
  private held: number | null = null;

  constructor(
    private readonly plane: Plane,
    private readonly holder: Holder,
  ) {
    const { canvas } = plane;
    worked(canvas);
    canvas.onpointerdown = (event) => this.grab(event);
    canvas.onpointermove = (event) => this.drag(event);
    canvas.onpointerup = canvas.onpointercancel = () => this.drop();
    canvas.onclick = (event) => isTap(event) && this.near(event) === null && this.add(this.at(event), true);
    heldByFinger(canvas, () => this.busy);
    canvas.onpointerleave = () => this.holder.point(null);
    canvas.ondblclick = (event) => this.remove(this.near(event));
    canvas.onkeydown = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.key(event)) return;
      event.preventDefault();
      event.stopPropagation(); // an arrow moves the point, not the player
    };
  }

  get busy(): boolean {
    return this.held !== null;
  }

  private near(event: MouseEvent): number | null {
    const [x, y] = pointed(this.plane.canvas, event);
    const touch = ofFinger(event) ? 1.5 : 1;
    const far = (point: Point): number => {
      const [left, top] = this.plane.place(point);
      return Math.hypot(left - x, top - y);
    };
    const nearest = minIndex(this.holder.points, far);
    const { points, scale } = this.holder;
    return nearest >= 0 && far(points[nearest]) < NEAR * scale * touch ? nearest : null;
  }

  private at(event: MouseEvent): [number, number] {
    return this.plane.coordinates(pointed(this.plane.canvas, event), this.holder.decimals);
  }

  private grab(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { canvas } = this.plane;
    const near = this.near(event);
    if (near === null && (event.pointerType === "touch" || !this.add(this.at(event), false))) return;
    this.held = near ?? this.holder.points.length - 1;
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    event.preventDefault();
    this.holder.lay(this.holder.points, this.held, false);
  }

  private drag(event: PointerEvent): void {
    if (this.held === null) this.holder.point(this.near(event));
    else this.move(this.held, this.at(event), false);
  }

  private drop(): void {
    if (this.held === null) return;
    const { held } = this;
    this.held = null;
    this.holder.lay(this.holder.points, held, true);
  }

  private move(index: number, [x, y]: readonly [number, number], rest: boolean): void {
    const points = this.holder.points.map((point, i): Point => (i === index ? [x, y, point[2]] : point));
    this.holder.lay(points, index, rest);
  }

  /** One more point, in sight and chosen; whether there was room. */
  add([x, y]: readonly [number, number], rest: boolean): boolean {
    const { points, most } = this.holder;
    if (points.length >= most) {
      this.holder.refuse("most");
      return false;
    }
    this.holder.lay([...points, [x, y, 1]], points.length, rest);
    return true;
  }

  /** One more point beside the chosen one, or in the middle, on the first free place of a spiral. */
  addBeside(): boolean {
    const { points, chosen, decimals, reach } = this.holder;
    const middle = chosen === null ? [0, 0] : points[chosen];
    for (let turn = 0; ; turn++) {
      const [x, y] = [Math.cos, Math.sin].map((of, axis) => {
        const value = middle[axis] + APART * Math.sqrt(turn) * of(GOLDEN * (turn - 1));
        return Number(Math.max(-reach, Math.min(reach, value)).toFixed(decimals));
      });
      if (points.every((point) => Math.hypot(point[0] - x, point[1] - y) > APART / 2)) return this.add([x, y], true);
    }
  }

  remove(index: number | null): void {
    const { points, fewest } = this.holder;
    if (index === null) return;
    this.held = null;
    if (points.length <= fewest) {
      this.holder.refuse("fewest");
      return;
    }
    this.holder.point(null);
    this.holder.lay(
      points.filter((_, i) => i !== index),
      null,
      true,
    );
  }

  private key(event: KeyboardEvent): boolean {
    const { shiftKey } = event;
    const key = keyOf(event);
    const { points, chosen } = this.holder;
    if (Object.hasOwn(ARROWS, key) && chosen !== null) {
      this.move(chosen, stepped(points[chosen], event, this.holder), true);
    } else if (key === "n") {
      const by = shiftKey ? points.length - 1 : 1;
      const next = chosen === null ? (shiftKey ? points.length - 1 : 0) : (chosen + by) % points.length;
      this.holder.lay(points, next, true);
    } else if (key === "a") {
      this.addBeside();
    } else if ((key === "Delete" || key === "Backspace") && chosen !== null) {
      this.remove(chosen);
    } else if (key === "Escape" && chosen !== null) {
      this.holder.lay(points, null, true);
    } else {
      return false;
    }
    return true;
  }
}
