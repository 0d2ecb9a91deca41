// What the capsules at one place of a grid see of the image; capsviz/figures/geometry.py packs it.

import type { Shape } from "./canvas";

/** Along rows and columns: how much is seen, how far apart the places are, how much lies beyond the border. */
export interface Field {
  readonly size: readonly [number, number];
  readonly stride: readonly [number, number];
  readonly beyond: readonly [number, number];
}

interface Box {
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

/** What the capsules at a row and a column see, in pixels of an image, clipped at its border. */
export function seen({ size, stride, beyond }: Field, shape: Shape, row: number, column: number): Box {
  return within(shape, row * stride[0] - beyond[0], column * stride[1] - beyond[1], size);
}

/** The part of it, as far as the image goes, that is nearer to this place than to its neighbours. */
export function own({ size, stride, beyond }: Field, shape: Shape, row: number, column: number): Box {
  const top = (row - 0.5) * stride[0] - beyond[0] + size[0] / 2;
  const left = (column - 0.5) * stride[1] - beyond[1] + size[1] / 2;
  return within(shape, top, left, stride);
}

/** A rectangle, by its upper left corner and its height and width, as far as it lies on the image. */
function within([, height, width]: Shape, top: number, left: number, [down, across]: readonly [number, number]): Box {
  return {
    top: Math.max(0, top),
    left: Math.max(0, left),
    bottom: Math.min(height, top + down),
    right: Math.min(width, left + across),
  };
}
