// What the panels of the board are shown at once.

import { Panel, type Pen } from "../core/canvas";
import type { Look } from "../core/look";
import { fitted } from "../core/shapes";
import type { Run, View } from "./run";

/** How things are looked at, by the visitor's buttons. */
export interface Options {
  solid: boolean;
  mass: boolean;
  difference: boolean;
}

export interface DrawState {
  readonly run: Run;
  readonly view: View;
  readonly look: Look;
  readonly capsule: number;
  readonly picked: ReadonlySet<number>;
  readonly options: Readonly<Options>;
  /** Where a board begins with some of the votes: which, and how far the others are there, 0 to 1. */
  readonly first: { readonly few: ReadonlySet<number>; readonly others: number } | null;
}

/** Baseline of a heading at a canvas's upper edge, where begins what it is the heading of, height of labels below. */
export function headings({ scale }: Look): { heading: number; under: number; foot: number } {
  return { heading: Math.max(16, 12 * scale), under: Math.max(24, 18 * scale), foot: Math.max(20, 17 * scale) };
}

export abstract class BoardPanel extends Panel<DrawState> {
  /** The numbers of another run. */
  load?(run: Run): void;

  /** What is seen, in the longest of some words that have room; the picture is called by the longest of all. */
  protected heading(pen: Pen, look: Look, titles: readonly string[], left = 0, room = this.width): void {
    pen.font = look.type(15, "600");
    pen.fillStyle = look.theme.text;
    pen.fillText(fitted(pen, titles, room), left, headings(look).heading);
    this.canvas.setAttribute("aria-label", titles[0]);
  }
}

/** Hears which capsule is chosen; more: added to those that are picked, or taken from them. */
export type Select = (capsule: number, more: boolean) => void;
/** Hears which capsules are picked. */
export type Pick = (capsules: number[], more: boolean) => void;
