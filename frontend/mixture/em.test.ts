import assert from "node:assert/strict";
import { test } from "node:test";

import { fixture } from "../core/fixtures";
import { type Covariance, fit, type Gaussian, type Point, route } from "./em";

interface Written {
  readonly means: [number, number][];
  readonly covariances: number[][][];
  readonly weights: number[];
}

interface Case {
  readonly points: Point[];
  readonly start: Written;
  readonly covariance: Covariance;
  readonly floor: number;
  readonly rounds: number;
  readonly steps: (Written & { owned: number[][] | null; likelihood: number; bound: number | null })[];
  readonly beta_u: number;
  readonly beta_a: number;
  readonly temperatures: number[];
  readonly even: boolean;
  readonly routed: Record<"responsibilities" | "means" | "variances" | "cost" | "posteriors", number[][]>[];
  readonly activations: number[][];
}

const cases = fixture("mixture") as Case[];
const flat = (gaussians: readonly Gaussian[]): number[] => gaussians.flatMap((g) => [...g.mean, ...g.covariance]);
const gaussiansOf = ({ means, covariances }: Pick<Written, "means" | "covariances">): Gaussian[] =>
  means.map((mean, k) => {
    const [[xx, xy], [, yy]] = covariances[k];
    return { mean, covariance: [xx, xy, yy] };
  });

function close(ours: readonly number[], theirs: readonly number[], what: string): void {
  assert.equal(ours.length, theirs.length, what);
  ours.forEach((value, k) => assert.ok(Math.abs(value - theirs[k]) < 1e-8, `${what}: ${value} for ${theirs[k]}`));
}

const fitted = ({ points, start, rounds, covariance, floor }: Case): ReturnType<typeof fit> =>
  fit(points, { gaussians: gaussiansOf(start), weights: start.weights }, rounds, covariance, floor);

test("a mixture is fitted as capsviz fits it, in every number of every half step", () => {
  assert.ok(cases.length >= 12);
  for (const each of cases) {
    const ours = fitted(each);
    assert.equal(ours.length, each.steps.length);
    each.steps.forEach((step, t) => {
      close(flat(ours[t].gaussians), flat(gaussiansOf(step)), `Gaussians after half step ${t}`);
      close(ours[t].weights, step.weights, `weights after half step ${t}`);
      close(ours[t].owned?.flat() ?? [], step.owned?.flat() ?? [], `r after half step ${t}`);
      close([ours[t].likelihood], [step.likelihood], `log-likelihood after half step ${t}`);
      close(ours[t].bound === null ? [] : [ours[t].bound], step.bound === null ? [] : [step.bound], `bound ${t}`);
    });
  }
});

test("votes are routed as capsviz routes them, in every number of every iteration", () => {
  for (const each of cases) {
    const { points, beta_u, beta_a, temperatures, routed, even } = each;
    const owned = fitted(each)[1].owned?.map((row) => (even ? row.map(() => 1 / row.length) : row));
    assert.ok(owned);
    const ours = route(points, owned, { beta_u, beta_a, temperatures }, each.floor);
    assert.equal(ours.length, routed.length);
    routed.forEach((step, t) => {
      const covariances = step.variances.map(([xx, yy]) => [
        [xx, 0],
        [0, yy],
      ]);
      const gaussians = gaussiansOf({ means: step.means as [number, number][], covariances });
      const where = `of iteration ${t + 1}`;
      close(flat(ours[t].gaussians), flat(gaussians), `Gaussians ${where}`);
      close(ours[t].responsibilities.flat(), step.responsibilities.flat(), `R ${where}`);
      close(ours[t].posteriors.flat(), step.posteriors.flat(), `R after ${where}`);
      close(ours[t].activations, each.activations[t], `activations ${where}`);
      close(
        ours[t].cost,
        step.cost.map(([x, y]) => x + y),
        `cost ${where}`,
      );
    });
  }
});

test("an E-step lifts the bound to the log-likelihood, which it leaves as it is", () => {
  for (const each of cases) {
    const steps = fitted(each);
    for (let t = 1; t < steps.length; t += 2) {
      assert.equal(steps[t].likelihood, steps[t - 1].likelihood);
      assert.ok(Math.abs((steps[t].bound ?? NaN) - steps[t].likelihood) < 1e-9);
      assert.ok((steps[t + 1].bound ?? NaN) <= steps[t + 1].likelihood + 1e-9);
    }
  }
});
