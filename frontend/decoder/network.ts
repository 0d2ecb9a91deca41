// The decoder of capsviz/network/capsnet.py in the browser: class capsules to an image. Its test holds it to numbers that
// PyTorch wrote.

import type { Shape } from "../core/canvas";

/** A class and the numbers of its capsule; all other capsules are zero. */
export type Capsule = readonly [label: number, numbers: ArrayLike<number>];

/** The weights of a decoder as Python packs them: the fields of its message, and `numbers`. */
export interface Weights {
  readonly digest: string;
  /** Capsules in, layer by layer, pixels out. */
  readonly widths: readonly number[];
  readonly image: Shape;
  readonly classes: number;
  readonly dim: number;
  /** Exemplars per class. */
  readonly exemplars: number;
  /** Whether the mean capsule of each class was measured. */
  readonly means: boolean;
  /** Weight "input output" and bias by layer, exemplars "class exemplar dim", spread "class dim", means "class dim". */
  readonly numbers: Float32Array;
}

interface Layer {
  readonly outputs: number;
  readonly weight: Float32Array;
  readonly bias: Float32Array;
  readonly sums: Float64Array;
}

export class Decoder {
  readonly image: Shape;
  /** Exemplars per class. */
  readonly kept: number;
  private readonly dim: number;
  private readonly layers: Layer[] = [];
  private readonly exemplars: Float32Array;
  private readonly spread: Float32Array;
  private readonly means: Float32Array | null;

  constructor({ widths, image, classes, dim, exemplars, means, numbers }: Weights) {
    [this.image, this.dim, this.kept] = [image, dim, exemplars];
    let at = 0;
    const next = (count: number): Float32Array => numbers.subarray(at, (at += count));
    for (let i = 0; i + 1 < widths.length; i++) {
      const outputs = widths[i + 1];
      const weight = next(widths[i] * outputs);
      this.layers.push({ outputs, weight, bias: next(outputs), sums: new Float64Array(outputs) });
    }
    this.exemplars = next(classes * exemplars * dim);
    this.spread = next(exemplars ? classes * dim : 0);
    this.means = means ? next(classes * dim) : null;
  }

  /** A class capsule of a training image that the model was sure of. */
  exemplar(label: number, number: number): Float32Array {
    const at = (label * this.kept + number) * this.dim;
    return this.exemplars.subarray(at, at + this.dim);
  }

  /** How much the numbers of a class capsule vary over the training images of the class. */
  deviations(label: number): Float32Array {
    return this.spread.subarray(label * this.dim, (label + 1) * this.dim);
  }

  /** Whether it is known how far a number lies from the mean of its class. */
  get measured(): boolean {
    return this.means !== null;
  }

  /** How many standard deviations a number lies from its mean over the images of the class; itself if not measured. */
  deviated(label: number, d: number, value: number): number {
    const at = label * this.dim + d;
    return this.means ? (value - this.means[at]) / this.spread[at] : value;
  }

  /** The image of these capsules, all others zero: "channel height width" in 0..1. */
  draw(capsules: readonly Capsule[]): Float32Array {
    let rows: number[] = []; // the rows of masked capsules would be multiplied by zero
    let values: ArrayLike<number> & Iterable<number> = capsules.flatMap(([label, numbers]) => {
      for (let d = 0; d < numbers.length; d++) rows.push(label * this.dim + d);
      return Array.from(numbers);
    });
    this.layers.forEach((layer, number) => {
      if (number) {
        const { sums } = this.layers[number - 1];
        rows = [];
        for (let i = 0; i < sums.length; i++) if (sums[i] > 0) rows.push(i);
        values = rows.map((i) => sums[i]);
      }
      affine(layer, rows, values);
    });
    return Float32Array.from(this.layers[this.layers.length - 1].sums, (sum) => 1 / (1 + Math.exp(-sum)));
  }
}

/** sums = bias + values · weight[rows]; four rows at a time, in sequence. */
function affine({ outputs, weight, bias, sums }: Layer, rows: readonly number[], values: ArrayLike<number>): void {
  sums.set(bias);
  let k = 0;
  for (; k + 3 < rows.length; k += 4) {
    const [a, b, c, d] = [values[k], values[k + 1], values[k + 2], values[k + 3]];
    const [p, q, r, s] = [rows[k] * outputs, rows[k + 1] * outputs, rows[k + 2] * outputs, rows[k + 3] * outputs];
    for (let o = 0; o < outputs; o++) {
      sums[o] += a * weight[p + o] + b * weight[q + o] + c * weight[r + o] + d * weight[s + o];
    }
  }
  for (; k < rows.length; k++) {
    const a = values[k];
    const p = rows[k] * outputs;
    for (let o = 0; o < outputs; o++) sums[o] += a * weight[p + o];
  }
}
