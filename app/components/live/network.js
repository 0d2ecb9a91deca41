// The decoder of capsviz/network/capsnet.py in the browser: class capsules to an image.
// tests/browser/test_live_decoder.py holds it to PyTorch's numbers.

/** float16 to float32, through a table of all 65,536 values. */
function widen(halves) {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const size = exponent === 0 ? fraction * 2 ** -24
      : exponent === 31 ? (fraction ? NaN : Infinity)
      : (1 + fraction / 1024) * 2 ** (exponent - 15);
    table[bits] = bits & 32768 ? -size : size;
  }
  const numbers = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) numbers[i] = table[halves[i]];
  return numbers;
}

class Decoder {
  constructor({ widths, image, classes, dim, exemplars, means }, numbers) {
    this.image = image; // channels, height, width
    this.dim = dim;
    this.layers = [];
    let at = 0;
    for (let i = 0; i + 1 < widths.length; i++) {
      const [inputs, outputs] = [widths[i], widths[i + 1]];
      const weight = numbers.subarray(at, (at += inputs * outputs)); // "input output"
      const bias = numbers.subarray(at, (at += outputs));
      this.layers.push({ outputs, weight, bias, sums: new Float64Array(outputs) });
    }
    this.kept = exemplars; // per class
    this.exemplars = numbers.subarray(at, (at += classes * exemplars * dim)); // "class exemplar dim"
    this.spread = numbers.subarray(at, (at += exemplars ? classes * dim : 0)); // "class dim"
    this.means = means ? numbers.subarray(at, (at += classes * dim)) : null; // "class dim"; null where nobody measured
  }

  /** A class capsule of a training image that the model was sure of. */
  exemplar(label, number) {
    const at = (label * this.kept + number) * this.dim;
    return this.exemplars.subarray(at, at + this.dim);
  }

  /** How much the numbers of a class capsule vary over the training images of the class. */
  deviations(label) {
    return this.spread.subarray(label * this.dim, (label + 1) * this.dim);
  }

  /** How many standard deviations a number of a class capsule lies from its mean over the images of the class. */
  deviated(label, d, value) {
    return (value - this.means[label * this.dim + d]) / this.spread[label * this.dim + d];
  }

  /** The image of these capsules, [[class, numbers], …], all others zero: "channel height width" in 0..1. */
  draw(capsules) {
    let rows = [], values = []; // the rows of masked capsules would be multiplied by zero
    for (const [label, numbers] of capsules) {
      for (let d = 0; d < numbers.length; d++) {
        rows.push(label * this.dim + d);
        values.push(numbers[d]);
      }
    }
    for (const layer of this.layers) {
      affine(layer, rows, values);
      values = layer.sums;
      if (layer === this.layers.at(-1)) break;
      rows = [];
      for (let i = 0; i < values.length; i++) if (values[i] > 0) rows.push(i);
      values = rows.map((i) => values[i]);
    }
    return Float32Array.from(values, (sum) => 1 / (1 + Math.exp(-sum)));
  }
}

/** sums = bias + values · weight[rows]; four rows at a time, in sequence. */
function affine({ outputs, weight, bias, sums }, rows, values) {
  sums.set(bias);
  let k = 0;
  for (; k + 3 < rows.length; k += 4) {
    const a = values[k], b = values[k + 1], c = values[k + 2], d = values[k + 3];
    const p = rows[k] * outputs, q = rows[k + 1] * outputs, r = rows[k + 2] * outputs, s = rows[k + 3] * outputs;
    for (let o = 0; o < outputs; o++) {
      sums[o] += a * weight[p + o] + b * weight[q + o] + c * weight[r + o] + d * weight[s + o];
    }
  }
  for (; k < rows.length; k++) {
    const a = values[k], p = rows[k] * outputs;
    for (let o = 0; o < outputs; o++) sums[o] += a * weight[p + o];
  }
}

// Walks between two capsules: lerp and slerp of capsviz/perturb.py. Both are sums of the two ends; what differs is how
// much of each.

const PARALLEL = 1e-6; // sine of an angle at which two capsules span no great circle

const length = (numbers) => Math.hypot(...numbers);

/** The angle between two masked capsules [class, numbers]; those of two classes are orthogonal. */
function angleBetween([from, start], [to, end]) {
  if (from !== to) return Math.PI / 2;
  const product = start.reduce((sum, value, d) => sum + value * end[d], 0);
  return Math.acos(Math.max(-1, Math.min(1, product / (length(start) * length(end)))));
}

/** The capsules [[class, numbers], …] at a share 0..1 of the way between two masked capsules. */
function onTheWay(start, end, share, sphere) {
  let first = 1 - share, last = share;
  const sizes = [length(start[1]), length(end[1])];
  if (sphere && Math.min(...sizes) > 0) {
    const angle = angleBetween(start, end);
    if (Math.sin(angle) >= PARALLEL) {
      const size = (1 - share) * sizes[0] + share * sizes[1];
      first = (size * Math.sin((1 - share) * angle)) / Math.sin(angle) / sizes[0];
      last = (size * Math.sin(share * angle)) / Math.sin(angle) / sizes[1];
    }
  }
  if (start[0] === end[0]) return [[start[0], Array.from(start[1], (value, d) => first * value + last * end[1][d])]];
  return [
    [start[0], Array.from(start[1], (value) => first * value)],
    [end[0], Array.from(end[1], (value) => last * value)],
  ];
}
