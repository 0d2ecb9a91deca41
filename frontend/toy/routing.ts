// Dynamic routing of votes in the plane, as capsviz/routing/dynamic.py does it; the unit test holds it to those numbers.

import { dot, squash } from "../core/vectors";

/** By lower capsule, parent and coordinate. */
export type Votes = [number, number][][];

/** One iteration: logits before it, couplings, weighted sums, poses, and the agreement that is added to the logits. */
export interface Step {
  readonly logits: number[][];
  readonly couplings: number[][];
  readonly sums: number[][];
  readonly poses: number[][];
  readonly agreement: number[][];
}

/** exp(b_j) / Σ_k exp(b_k): a lower capsule shares itself out over its parents. */
function softmax(logits: readonly number[]): number[] {
  const most = Math.max(...logits);
  const shares = logits.map((b) => Math.exp(b - most));
  const sum = shares.reduce((a, b) => a + b, 0);
  return shares.map((share) => share / sum);
}

/** All iterations of a routing by agreement. */
export function routeByAgreement(votes: Votes, iterations: number): Step[] {
  const parents = votes[0].map((_, j) => j);
  const steps: Step[] = [];
  let logits = votes.map(() => parents.map(() => 0));
  for (let iteration = 0; iteration < iterations; iteration++) {
    const couplings = logits.map(softmax);
    const sums = parents.map((j) =>
      votes[0][j].map((_, h) => votes.reduce((sum, vote, i) => sum + couplings[i][j] * vote[j][h], 0)),
    );
    const poses = sums.map(squash);
    const agreement = votes.map((vote) => parents.map((j) => dot(vote[j], poses[j])));
    steps.push({ logits, couplings, sums, poses, agreement });
    logits = logits.map((row, i) => row.map((b, j) => b + agreement[i][j]));
  }
  return steps;
}
