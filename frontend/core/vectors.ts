// Vectors, as capsviz/routing/squash.py has them; the unit tests hold them to those numbers.

/** Σ_k a_k b_k. */
export function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, k) => sum + value * b[k], 0);
}

/** ‖s‖² / (1 + ‖s‖²): how long a vector of length ‖s‖ is once it is squashed. */
export function squashed(length: number): number {
  return (length * length) / (1 + length * length);
}

/** ‖s‖² / (1 + ‖s‖²) · s / ‖s‖, and 0 at 0. */
export function squash(s: readonly number[]): number[] {
  const length = Math.sqrt(dot(s, s));
  return s.map((value) => (value * length) / (1 + length * length));
}

export interface SemiAxes {
  readonly long: number;
  readonly short: number;
  readonly angle: number; // of the longer one, in radians
}

/** Those of a Gaussian of this covariance in the plane, at one deviation. */
export function semiAxes(xx: number, xy: number, yy: number): SemiAxes {
  const middle = (xx + yy) / 2;
  const off = Math.hypot((xx - yy) / 2, xy);
  const axis = (variance: number): number => Math.sqrt(Math.max(0, variance));
  return { long: axis(middle + off), short: axis(middle - off), angle: Math.atan2(2 * xy, xx - yy) / 2 };
}
