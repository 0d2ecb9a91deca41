// In how many columns a board stands.

import type { Look } from "../core/look";

const PRESENTED = 1.1; // times the ordinary type, from which a page is presented (app/page/presenting.css: 1.15 or more)
const WIDE = 760; // pixels, in ordinary type, from which votes, algorithm and answer stand side by side
const PAIRED = 440; // the same for votes and bars, of which a hall shall see both at once

/** Whether a page is presented. */
export function isPresented({ scale }: Pick<Look, "scale">): boolean {
  return scale > PRESENTED;
}

/** Columns of a board that is so many pixels wide: 3, or 2 with the algorithm below them, or 1. */
export function columnsIn(width: number, look: Pick<Look, "scale">): 1 | 2 | 3 {
  const room = width / Math.max(1, look.scale);
  if (room >= WIDE) return 3;
  return isPresented(look) && room >= PAIRED ? 2 : 1;
}
