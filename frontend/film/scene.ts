// What the parts of a film are shown at once.

import type { Look } from "../core/look";
import type { FilmData } from "./data";

export interface Scene {
  readonly data: FilmData;
  readonly look: Look;
  readonly position: number;
  /** The numbers of the maps at the position. */
  readonly now: readonly Float32Array[];
  /** The capsule that is looked at: the one under the pointer, else the chosen one, else the strongest. */
  readonly capsule: number;
  /** Capsules with a frame around them, in the frame's colour. */
  readonly marked: readonly (readonly [capsule: number, colour: string])[];
}

/** A part of a film: a figure that fits its place. */
export interface Part {
  readonly root: HTMLElement;
  /** Another film, or another theme. */
  update(data: FilmData, look: Look): void;
  draw(scene: Scene): void;
}
