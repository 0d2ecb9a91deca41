// Upper capsules that are Gaussians: that of the chosen class in each number of its pose, over the votes, and the
// logistic that switches it on.

import { scaleLinear } from "d3-scale";
import { line as path } from "d3-shape";

import type { Pen } from "../core/canvas";
import { indices, shown } from "../core/numbers";
import { disc, haloed, line, strokeIn } from "../core/shapes";
import { span } from "./camera";
import type { Run } from "./run";
import { headings, type DrawState, BoardPanel } from "./panel";

const BINS = 36;
const FAR = 0.03; // share of the votes on either side that a small chart leaves out

/** Whether upper capsules are Gaussians. */
export function hasGaussians({ data }: Run): boolean {
  return data.variances !== undefined;
}

interface Thresholds {
  readonly cost: Float32Array;
  readonly temperature: Float32Array;
  readonly beta_a: Float32Array;
}

/** What switches a Gaussian on, where the host knows all of it. */
export function thresholds({ data }: Run): Thresholds | null {
  const { cost, temperature, beta_a } = data;
  return cost && temperature && beta_a ? { cost, temperature, beta_a } : null;
}

/** One small chart per pose component: the votes as the M-step weighs them, all votes behind, and the density. */
export class Curves extends BoardPanel {
  private ranges: [number, number][] = [];

  override load(run: Run): void {
    this.ranges = indices(run.dim).map((h) => this.range(run, h));
  }

  /** From where to where component h is drawn: the votes but the farthest on either side, and every Gaussian. */
  private range({ data, dim, lower }: Run, h: number): [number, number] {
    const values = indices(lower).map((i) => data.votes[i * dim + h]);
    const gaussians = indices(data.iterations).flatMap((t) => {
      const mean = data.poses[t * dim + h];
      const deviation = Math.sqrt(data.variances?.[t * dim + h] ?? 0);
      return [mean - 3 * deviation, mean + 3 * deviation];
    });
    return span(values, gaussians, { far: FAR, fenced: false });
  }

  /** Densities of the votes of component h over the bins, weighted or not. */
  private histogram(
    { data, dim, lower, upperCount, upper }: Run,
    h: number,
    shares: Float32Array | null,
  ): Float32Array {
    const [low, high] = this.ranges[h];
    const bins = new Float32Array(BINS);
    let whole = 0;
    for (let i = 0; i < lower; i++) {
      const weight = shares ? shares[i * upperCount + upper] * data.presence[i] : 1;
      const bin = Math.floor(((data.votes[i * dim + h] - low) / (high - low)) * BINS);
      whole += weight;
      if (bin >= 0 && bin < BINS) bins[bin] += weight;
    }
    // By the whole weight, not by what falls inside: the bars then estimate the density that the line is.
    return bins.map((value) => value / (Math.max(whole, 1e-12) * ((high - low) / BINS)));
  }

  protected paint(pen: Pen, { run, view, look }: DrawState): void {
    const { theme } = look;
    const { dim, data } = run;
    const across = Math.ceil(Math.sqrt(dim));
    const head = 10 + headings(look).heading;
    const wide = this.width / across;
    const high = (this.height - head) / Math.ceil(dim / across);
    const title = `Gaussian of ${data.classes[run.upper]}`;
    const titles = [
      `${title} in its ${dim} pose numbers, over the votes weighted by R a`,
      `${title}, votes weighted by R a`,
      title,
    ];
    this.heading(pen, look, titles);
    for (let h = 0; h < dim; h++) {
      const left = (h % across) * wide;
      const top = head + Math.floor(h / across) * high;
      const mean = data.poses[view.t * dim + h];
      const deviation = Math.sqrt(data.variances?.[view.t * dim + h] ?? 0);
      const owned = this.histogram(run, h, view.shares);
      const normal = 1 / (deviation * Math.sqrt(2 * Math.PI));
      const peak = 1.05 * Math.max(normal, ...owned);
      const x = scaleLinear(this.ranges[h], [left, left + wide - 10]);
      const y = scaleLinear([0, peak], [top + high - 8, top + 16]).clamp(true);
      bars(pen, this.histogram(run, h, null), x.range(), y, theme.grid);
      bars(pen, owned, x.range(), y, theme.classes[run.upper]);
      strokeIn(pen, theme.text, 2);
      pen.beginPath();
      const density = (at: number): number => normal * Math.exp(-0.5 * ((at - mean) / deviation) ** 2);
      path<number>(x, (at) => y(density(at))).context(pen)(
        indices(81).map((k) => x.invert(left + (k / 80) * (wide - 10))),
      );
      pen.stroke();
      pen.font = look.type(13);
      pen.fillStyle = theme.muted;
      pen.fillText(`${h}: σ ${shown(deviation, 2)}`, left, top + 12);
    }
  }
}

function bars(
  pen: Pen,
  values: Float32Array,
  [left, right]: number[],
  y: (value: number) => number,
  colour: string,
): void {
  const wide = (right - left) / BINS;
  pen.fillStyle = colour;
  values.forEach((value, k) => pen.fillRect(left + k * wide, y(value), wide + 0.3, y(0) - y(value)));
}

/** Activation against cost: the logistic of this iteration's λ, every class a point on it. */
export class Logistic extends BoardPanel {
  private reaches: readonly number[] = []; // by T, so that every cost until then is in the picture

  override load(run: Run): void {
    const found = thresholds(run);
    const over = found ? found.cost.map((cost, k) => Math.abs(cost - found.beta_a[k % run.upperCount])) : [];
    this.reaches = indices(run.data.iterations).map(
      (t) => 1.08 * Math.max(4, ...over.slice(0, (t + 1) * run.upperCount)),
    );
  }

  protected paint(pen: Pen, { run, view, look }: DrawState): void {
    const found = thresholds(run);
    if (!found) return;
    const { theme } = look;
    const answered = run.known("lengths", view.frame);
    const t = Math.max(0, answered);
    const strict = found.temperature[t];
    const larger = Math.max(1, look.scale);
    const frame = {
      left: 36 * larger,
      right: this.width - 14 * larger,
      top: 12 + 1.2 * headings(look).heading,
      bottom: this.height - 42 * larger,
    };
    const reach = this.reaches[run.iterations - 1];
    const x = scaleLinear([-reach, reach], [frame.left, frame.right]);
    const y = scaleLinear([0, 1], [frame.bottom, frame.top]);
    const lambda = `λ = ${shown(strict, 2)}`;
    this.heading(pen, look, [`Cost switches capsules off, ${lambda}`, `Activation by cost, ${lambda}`, lambda]);
    pen.font = look.type(13);
    pen.strokeStyle = theme.grid;
    pen.fillStyle = theme.muted;
    pen.lineWidth = 1;
    for (const a of [0, 0.5, 1]) {
      line(pen, frame.left, y(a), frame.right, y(a));
      pen.fillText(shown(a, 1), 6, y(a) + 4);
    }
    line(pen, x(0), frame.top, x(0), y(0));
    pen.textAlign = "center";
    const written = x.tickFormat(6);
    for (const tick of x.ticks(6)) pen.fillText(written(tick), x(tick), y(0) + 16 * larger);
    pen.fillText("Σ cost − βₐ", this.width / 2, this.height - 6);
    pen.textAlign = "left";
    strokeIn(pen, theme.text, 2);
    pen.beginPath();
    const curve = path<number>(x, (over) => y(1 / (1 + Math.exp(strict * over)))).context(pen);
    curve(indices(121).map((k) => (k / 60 - 1) * reach));
    pen.stroke();
    if (answered < 0) return;
    for (let j = 0; j < run.upperCount; j++) {
      const at = t * run.upperCount + j;
      const chosen = j === run.upper;
      const [left, top] = [x(found.cost[at] - found.beta_a[j]), y(run.data.lengths[at])];
      disc(pen, [left, top], chosen ? 9 : 5.5, theme.classes[j]);
      strokeIn(pen, theme.text, chosen ? 2.5 : 1);
      pen.stroke();
      if (chosen) {
        pen.font = look.type(15, "bold");
        haloed(pen, run.data.classes[j], left, top + (top < 60 ? 26 : -14), theme);
      }
    }
  }
}
