// The margin loss of one class, as capsviz/routing/losses.py has it; the unit test holds it to those numbers.

/** m⁺, m⁻, and what an absent class counts. */
export type Margins = readonly [present: number, absent: number, weight: number];

/** The loss of a class whose capsule is so long, there or not. */
export function marginLoss(length: number, there: boolean, [present, absent, weight]: Margins): number {
  return there ? Math.max(0, present - length) ** 2 : weight * Math.max(0, length - absent) ** 2;
}

/** Its derivative by the length: training goes against it. */
export function marginGradient(length: number, there: boolean, [present, absent, weight]: Margins): number {
  return there ? -2 * Math.max(0, present - length) : 2 * weight * Math.max(0, length - absent);
}
