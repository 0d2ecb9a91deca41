import assert from "node:assert/strict";
import { test } from "node:test";

import { shown } from "../core/numbers";
import { start } from "../fixtures/two-gaussians";
import type { Point } from "./em";
import { readMixture, readVotes } from "./reading";
import { run, type State } from "./run";

const state = { votes: true, covariance: "full", temperature: 1, beta_u: 0, beta_a: -2, even: false } as State;
const points = [
  [0.5, 0.1, 1],
  [0.4, -0.1, 1],
  [0.1, 0.2, 0.5],
  [-0.5, 0, 1],
  [-0.4, 0.1, 1],
] satisfies Point[];
const found = run(state, points, start, 1e-4, [0.5, 0.75, 0.875]);

test("the line of the half step is lit, and what is not known yet is not said", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((index) => readMixture(found, index, 2).lit),
    [-1, 0, 1, 0],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((index) => readVotes(found, index, 2).lit),
    [-1, -1, [0, 1], 2, [0, 1]],
  );
  assert.deepEqual(readMixture(found, 0, 2).texts, ["r = …", "μ = …"]);
  assert.deepEqual(readVotes(found, 1, 2).texts.slice(0, 2), ["σ = …", "λ = …,  Σcost = …  →  a = …"]);
});

test("an iteration's numbers stand at its M-step and at the E-step that follows", () => {
  const second = found.routed?.[1];
  for (const index of [4, 5]) {
    const { texts } = readVotes(found, index, 2);
    assert.match(texts[1], /^λ = 0\.75, {2}Σcost = /);
    assert.ok(texts[1].endsWith(`a = ${second?.activations.map((a) => shown(a, 2)).join("  ")}`));
  }
  const owned = [second?.responsibilities[2], second?.posteriors[2]].map((row) =>
    row?.map((r) => shown(r, 2)).join("  "),
  );
  assert.deepEqual([4, 5].map((index) => readVotes(found, index, 2).texts[2]), owned.map((text) => `R = ${text}`)); // prettier-ignore
});

test("a Gaussian of the mixture owns what its responsibilities add up to", () => {
  const sums = [0, 1].map((k) => found.mixture[5].owned?.reduce((sum, row) => sum + row[k], 0) ?? NaN);
  assert.deepEqual(readMixture(found, 5, 0).more, sums.map((sum) => `n = ${shown(sum, 1)}`)); // prettier-ignore
});
