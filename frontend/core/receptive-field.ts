// What the capsules at one place of a grid see of the image; capsviz/figures/geometry.py packs it.

import type { Shape } from "./canvas";

/** Along rows and columns: how much is seen, how far apart the places are, how much lies beyond the border. */
export interface Field {
  readonly size: readonly [number, number];
  readonly stride: readonly [number, number];
  readonly beyond: readonly [number, number];
}

export interface Box {
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

/** What the capsules at a row and a column see, in pixels of an image, clipped at its border. */
export function seen({ size, stride, beyond }: Field, [, height, width]: Shape, row: number, column: number): Box {
  const top = row * stride[0] - beyond[0];
  const left = column * stride[1] - beyond[1];
  const bottom = Math.min(height, top + size[0]);
  const right = Math.min(width, left + size[1]);
  return { top: Math.max(0, top), left: Math.max(0, left), bottom, right };
}

/** The part of it, as far as the image goes, that is nearer to this place than to its neighbours. */
export function own({ size, stride, beyond }: Field, [, height, width]: Shape, row: number, column: number): Box {
  const top = (row - 0.5) * stride[0] - beyond[0] + size[0] / 2;
  const left = (column - 0.5) * stride[1] - beyond[1] + size[1] / 2;
  return {
    top: Math.max(0, top),
    left: Math.max(0, left),
    bottom: Math.min(height, top + stride[0]),
    right: Math.min(width, left + stride[1]),
  };
}
