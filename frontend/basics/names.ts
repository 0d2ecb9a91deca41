// Names of points that lie close together: fanned out over them, in one row or in few.

import type { Pen } from "../core/canvas";
import type { Look } from "../core/look";
import { haloed, line, strokeIn } from "../core/shapes";

interface Named {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** Points that have a name; of more of them those of the longest capsules. */
export const NAMED = 12;
/** Of a chart's width that a name takes at most. */
export const NAME = 0.35;
const APART = 7; // pixels between two names of a row
const ASIDE = 190; // pixels that a name may stand beside its point
const ROW = 19; // pixels from a row to the next, in ordinary type

/** Where some names of such widths are written, centred, over their places: x, and the row counted from below. */
export function rowsOf(
  places: readonly number[],
  widths: readonly number[],
  left: number,
  right: number,
): { x: number; row: number }[] {
  const ends: number[] = []; // of each row
  const found = places.map(() => ({ x: 0, row: 0 }));
  for (const k of places.map((_, k) => k).sort((a, b) => places[a] - places[b])) {
    const half = widths[k] / 2;
    const at = (row: number): number => Math.max(left + half, places[k], (ends[row] ?? -Infinity) + APART + half);
    let row = 0;
    while (row < ends.length && (at(row) - places[k] > ASIDE + half || at(row) + half > right)) row++;
    const x = Math.min(at(row), right - half);
    ends[row] = x + half;
    found[k] = { x, row };
  }
  return found;
}

/** Write names over their points, rows upwards from a line, each tied to its point; the pen has their font. */
export function fanOut(
  pen: Pen,
  named: readonly Named[],
  base: number,
  [left, right]: readonly [number, number],
  { theme, scale }: Look,
): void {
  const places = named.map(({ x }) => x);
  const widths = named.map(({ text }) => pen.measureText(text).width);
  const rows = rowsOf(places, widths, left, right);
  strokeIn(pen, theme.muted, 0.8);
  named.forEach(({ x, y }, k) => line(pen, x, y, rows[k].x, base - rows[k].row * ROW * scale + 4));
  named.forEach(({ text }, k) => haloed(pen, text, rows[k].x, base - rows[k].row * ROW * scale, theme));
}
