// Walks between two capsules: lerp and slerp of capsviz/analysis/perturbation.py. Both are sums of the two ends; what differs is how
// much of each.

import type { Capsule } from "./network";

const PARALLEL = 1e-6; // sine of an angle at which two capsules span no great circle

export function length(numbers: ArrayLike<number>): number {
  return Math.hypot(...Array.from(numbers));
}

/** The angle between two masked capsules; those of two classes are orthogonal. NaN where one of a class has no length. */
export function angleBetween([from, start]: Capsule, [to, end]: Capsule): number {
  if (from !== to) return Math.PI / 2;
  const product = Array.from(start).reduce((sum, value, d) => sum + value * end[d], 0);
  return Math.acos(Math.max(-1, Math.min(1, product / (length(start) * length(end)))));
}

/** The capsules at a share 0..1 of the way between two masked capsules, straight on or along the sphere. */
export function onTheWay(start: Capsule, end: Capsule, share: number, sphere: boolean): Capsule[] {
  let [first, last] = [1 - share, share];
  const sizes = [length(start[1]), length(end[1])];
  if (sphere && Math.min(...sizes) > 0) {
    const angle = angleBetween(start, end);
    if (Math.sin(angle) >= PARALLEL) {
      const size = (1 - share) * sizes[0] + share * sizes[1];
      first = (size * Math.sin((1 - share) * angle)) / Math.sin(angle) / sizes[0];
      last = (size * Math.sin(share * angle)) / Math.sin(angle) / sizes[1];
    }
  }
  if (start[0] === end[0]) return [[start[0], Array.from(start[1], (value, d) => first * value + last * end[1][d])]];
  return [
    [start[0], Array.from(start[1], (value) => first * value)],
    [end[0], Array.from(end[1], (value) => last * value)],
  ];
}
