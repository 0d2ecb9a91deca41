// What the parts of the board are shown at once.

import type { Look } from "../core/look";
import type { MapsData } from "./data";

export interface DrawState {
  readonly data: MapsData;
  readonly look: Look;
  readonly position: number;
  /** The numbers of the maps at the position. */
  readonly now: readonly Float32Array[];
  /** The capsule that is looked at: the one under the pointer, else the chosen one, else the strongest. */
  readonly capsule: number;
  /** Capsules with a frame around them, in the frame's colour. */
  readonly marked: readonly (readonly [capsule: number, colour: string])[];
}

/** A part of the board: a figure that fits its place. */
export interface Part {
  readonly root: HTMLElement;
  /** Other numbers, or another theme. */
  update(data: MapsData, look: Look): void;
  draw(state: DrawState): void;
}
