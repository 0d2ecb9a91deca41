import assert from "node:assert/strict";
import { test } from "node:test";

import { fixture } from "../core/fixtures";
import { routeByAgreement, type Step, type Votes } from "./routing";

const cases = fixture("routing") as { votes: Votes; steps: Step[] }[];

test("votes are routed as capsviz routes them, in every number of every iteration", () => {
  assert.equal(cases.length, 20);
  for (const { votes, steps } of cases) {
    const ours = routeByAgreement(votes, steps.length);
    assert.equal(ours.length, steps.length);
    steps.forEach((step, t) => {
      for (const [name, rows] of Object.entries(step) as [keyof Step, number[][]][]) {
        rows.flat().forEach((value, k) => {
          assert.ok(Math.abs(ours[t][name].flat()[k] - value) < 1e-9, `${name} of iteration ${t + 1}`);
        });
      }
    });
  }
});
