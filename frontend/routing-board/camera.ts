// From where the votes are looked at: flat, along the first two axes of their space, or turned in three dimensions.

import { quantile } from "d3-array";

import type { Place } from "../core/shapes";
import { semiAxes, type SemiAxes } from "../core/vectors";

export type Point = readonly [number, number, number];

/** What may stay outside of a picture: the farthest share on either side, and what lies beyond Tukey's fences. */
interface Beyond {
  readonly far: number;
  readonly fenced: boolean;
}

/** From where to where: all fixed values and the others but those that may stay outside. */
export function span(values: readonly number[], fixed: readonly number[], { far, fenced }: Beyond): [number, number] {
  const at = (share: number): number => quantile(values, share) ?? 0;
  let [low, high] = [at(far), at(1 - far)];
  if (fenced) {
    const [first, third] = [at(0.25), at(0.75)];
    const fence = 1.5 * (third - first);
    [low, high] = [Math.max(low, first - fence), Math.min(high, third + fence)];
  }
  return [Math.min(low, ...fixed), Math.max(high, ...fixed)];
}

/** The points to be seen: votes, of which some may stay outside, the origin from which they point, and others. */
export interface Subject {
  readonly votes: readonly Point[];
  readonly origin: Point;
  readonly fixed: readonly Point[];
  readonly beyond: Beyond;
}

/** The edges of the picture in pixels. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const STEEPEST = 1.5; // radians up or down
const CLOSER = 1.5; // what a step of the zoom enlarges by
/** Steps of the zoom to either side. */
export const CLOSEST = 6;

export class Camera {
  solid = false;
  yaw = 0.6;
  pitch = 0.35;
  /** Steps by which it is closer than where the subject fills the frame. */
  zoom = 0;
  private whole = 1;
  private origin: Point = [0, 0, 0];
  private between: Place = [0, 0];
  private centre: Place = [0, 0];

  /** Turn so far, in radians, from where it stood when the hand took it. */
  turn(yaw: number, pitch: number): void {
    this.yaw = Math.atan2(Math.sin(yaw), Math.cos(yaw)); // once around is where it began
    this.pitch = Math.max(-STEEPEST, Math.min(STEEPEST, pitch));
  }

  /** A point or direction as seen from here: across, up, and how deep. */
  seen([x, y, z]: ArrayLike<number> & Iterable<number>): Point {
    if (!this.solid) return [x, y, z];
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const [across, deep] = [cy * x + sy * z, cy * z - sy * x];
    return [across, cp * y - sp * deep, cp * deep + sp * y];
  }

  /** Stand so that the subject fills the frame, but for the zoom. */
  fit({ votes, origin, fixed, beyond }: Subject, { left, right, top, bottom }: Frame): void {
    const [seen, firm] = [votes, [...fixed, origin]].map((points) => points.map((point) => this.seen(point)));
    let across: [number, number];
    let up: [number, number];
    if (this.solid) {
      // As far in every direction, so that nothing jumps while it is turned.
      const distances = (points: Point[]): number[] => points.map((point) => Math.hypot(...point));
      const [, reach] = span(distances(seen), distances(firm), beyond);
      across = up = [-reach, reach];
    } else {
      const along = (axis: 0 | 1): [number, number] =>
        span(
          seen.map((point) => point[axis]),
          firm.map((point) => point[axis]),
          beyond,
        );
      [across, up] = [along(0), along(1)];
    }
    const room = Math.min((right - left) / (across[1] - across[0] || 1), (bottom - top) / (up[1] - up[0] || 1));
    this.whole = 0.92 * room;
    this.origin = origin;
    this.between = [(across[0] + across[1]) / 2, (up[0] + up[1]) / 2];
    this.centre = [(left + right) / 2, (top + bottom) / 2];
  }

  /** Pixels for one unit of the votes' space. */
  get unit(): number {
    return this.whole * CLOSER ** this.zoom;
  }

  /** What is seen in the middle of the picture: the zoom is about the origin, so that votes keep their directions. */
  private get middle(): Place {
    const [x, y] = this.seen(this.origin);
    const [across, up] = this.between;
    const closer = CLOSER ** this.zoom;
    return [x + (across - x) / closer, y + (up - y) / closer];
  }

  /** Where on the picture a point is. */
  screen(point: ArrayLike<number> & Iterable<number>): Place {
    return this.screens([point])[0];
  }

  /** Where on the picture points are. */
  screens(points: readonly (ArrayLike<number> & Iterable<number>)[]): Place[] {
    const { unit, middle, centre } = this;
    return points.map((point) => {
      const [x, y] = this.seen(point);
      return [centre[0] + (x - middle[0]) * unit, centre[1] - (y - middle[1]) * unit];
    });
  }

  /** Which point of the plane is at a place of the picture. */
  plane([x, y]: Place): Place {
    const [across, up] = this.middle;
    return [across + (x - this.centre[0]) / this.unit, up - (y - this.centre[1]) / this.unit];
  }

  /** A Gaussian as seen from here, by its covariance "3 3": semi-axes of its 1-σ ellipse in pixels, and its slant. */
  ellipse(covariance: ArrayLike<number>): SemiAxes {
    const axes = [this.seen([1, 0, 0]), this.seen([0, 1, 0]), this.seen([0, 0, 1])];
    const form = (a: 0 | 1, b: 0 | 1): number => {
      let sum = 0;
      for (let m = 0; m < 3; m++) for (let n = 0; n < 3; n++) sum += axes[m][a] * covariance[3 * m + n] * axes[n][b];
      return sum;
    };
    const { long, short, angle } = semiAxes(form(0, 0), form(0, 1), form(1, 1));
    return { long: this.unit * long, short: this.unit * short, angle };
  }
}
