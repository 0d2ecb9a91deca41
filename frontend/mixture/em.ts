// A mixture of Gaussians in the plane, fitted by EM as capsviz/analysis/mixtures.py does it, and the same points as votes
// under EM routing, as capsviz/routing/em.py; the unit test holds both to those numbers.

export type Covariance = "full" | "diag";

/** x, y and the activation a_i that the point has as a vote. */
export type Point = readonly [number, number, number];

/** A mean, and a covariance as its three numbers xx, xy, yy. */
export interface Gaussian {
  readonly mean: readonly [number, number];
  readonly covariance: readonly [number, number, number];
}

/** What is known after a half step of a mixture; the first one is the start, which owns nothing yet. */
export interface HalfStep {
  readonly gaussians: readonly Gaussian[];
  readonly weights: readonly number[];
  /** r by point and Gaussian. */
  readonly owned: number[][] | null;
  readonly likelihood: number;
  readonly bound: number | null;
}

/** One iteration of EM routing, an M-step and an E-step, in the names of capsviz. */
export interface RoutingStep {
  readonly responsibilities: number[][];
  readonly gaussians: readonly Gaussian[];
  /** Σ_h cost_j^h. */
  readonly cost: readonly number[];
  readonly activations: readonly number[];
  readonly posteriors: number[][];
}

/** What routing is given beside the votes. */
interface Betas {
  readonly beta_u: number;
  readonly beta_a: number;
  /** λ of each iteration. */
  readonly temperatures: readonly number[];
}

const NOTHING = 10 * Number.EPSILON; // added to what a Gaussian owns, which is then divided by
const EMPTY = 1e-6; // in routing, what a parent at least counts as having received

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

function logSumExp(values: readonly number[]): number {
  const most = Math.max(...values);
  return most + Math.log(sum(values.map((value) => Math.exp(value - most))));
}

function softmax(values: readonly number[]): number[] {
  const all = logSumExp(values);
  return values.map((value) => Math.exp(value - all));
}

/** log N(x; μ, Σ). */
function logDensity([x, y]: Point, { mean, covariance: [xx, xy, yy] }: Gaussian): number {
  const determinant = xx * yy - xy * xy;
  const [dx, dy] = [x - mean[0], y - mean[1]];
  const distance = (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / determinant;
  return -0.5 * (distance + Math.log(determinant)) - Math.log(2 * Math.PI);
}

/** log π_k N(x_i; μ_k, Σ_k), by point and Gaussian. */
function joint(points: readonly Point[], gaussians: readonly Gaussian[], weights: readonly number[]): number[][] {
  return points.map((point) => gaussians.map((gaussian, k) => Math.log(weights[k]) + logDensity(point, gaussian)));
}

/** The start, then an E-step, an M-step, an E-step, … of so many rounds. */
export function fit(
  points: readonly Point[],
  start: Pick<HalfStep, "gaussians" | "weights">,
  rounds: number,
  covariance: Covariance,
  floor: number,
): HalfStep[] {
  let { gaussians, weights } = start;
  let owned: number[][] | null = null;
  const steps: HalfStep[] = [];
  const keep = (joined: number[][]): void => {
    const likelihood = sum(joined.map(logSumExp));
    const shares = owned?.map((row, i) => sum(row.map((r, k) => (r > 0 ? r * (joined[i][k] - Math.log(r)) : 0))));
    steps.push({ gaussians, weights, owned, likelihood, bound: shares ? sum(shares) : null });
  };
  keep(joint(points, gaussians, weights));
  for (let round = 0; round < rounds; round++) {
    const before = joint(points, gaussians, weights);
    owned = before.map(softmax);
    keep(before);
    const amounts = weights.map((_, k) => sum(owned?.map((row) => row[k]) ?? []) + NOTHING);
    const all = sum(amounts);
    const shares = owned.map((row) => row.map((r, k) => r / amounts[k]));
    gaussians = moments(points, shares, covariance).map(({ mean, covariance: [xx, xy, yy] }) => ({
      mean,
      covariance: [xx + floor, xy, yy + floor],
    }));
    weights = amounts.map((amount) => amount / all);
    keep(joint(points, gaussians, weights));
  }
  return steps;
}

/** Mean and covariance of the points for each Gaussian; shares: of each point, by point and Gaussian. */
function moments(points: readonly Point[], shares: readonly number[][], covariance: Covariance): Gaussian[] {
  return shares[0].map((_, k) => {
    const of = (value: (point: Point) => number): number => sum(points.map((p, i) => shares[i][k] * value(p)));
    const mean = [of(([x]) => x), of(([, y]) => y)] as const;
    const xx = of(([x]) => (x - mean[0]) ** 2);
    const yy = of(([, y]) => (y - mean[1]) ** 2);
    const xy = covariance === "diag" ? 0 : of(([x, y]) => (x - mean[0]) * (y - mean[1]));
    return { mean, covariance: [xx, xy, yy] };
  });
}

/** Votes that all parents share, routed by EM; owned: R of the first M-step, by point and parent. */
export function route(points: readonly Point[], owned: number[][], betas: Betas, floor: number): RoutingStep[] {
  const parents = owned[0].length;
  const steps: RoutingStep[] = [];
  let responsibilities = owned;
  for (const temperature of betas.temperatures) {
    const weights = responsibilities.map((row, i) => row.map((r) => r * points[i][2]));
    const amounts = owned[0].map((_, j) => sum(weights.map((row) => row[j])));
    const shares = weights.map((row) => row.map((weight, j) => weight / Math.max(amounts[j], EMPTY)));
    const gaussians = moments(points, shares, "diag").map(({ mean, covariance: [xx, , yy] }): Gaussian => ({
      mean,
      covariance: [Math.max(xx, floor), 0, Math.max(yy, floor)],
    }));
    const cost = gaussians.map(({ covariance: [xx, , yy] }, j) => {
      const received = (amounts[j] * parents) / points.length;
      return (2 * betas.beta_u + 0.5 * Math.log(xx * yy)) * received;
    });
    const strengths = cost.map((each) => temperature * (betas.beta_a - each));
    // log a_j without a loss where a_j is almost 0.
    const logs = strengths.map((strength) => Math.min(0, strength) - Math.log1p(Math.exp(-Math.abs(strength))));
    const posteriors = points.map((point) => softmax(gaussians.map((each, j) => logs[j] + logDensity(point, each))));
    const activations = logs.map(Math.exp);
    steps.push({ responsibilities, gaussians, cost, activations, posteriors });
    responsibilities = posteriors;
  }
  return steps;
}
