import assert from "node:assert/strict";
import { test } from "node:test";

import { routeByAgreement, type Votes } from "./routing";
import { told } from "./story";

const LENGTH = 0.9;
const at = (degrees: number): [number, number] => {
  const angle = (degrees / 180) * Math.PI;
  return [LENGTH * Math.cos(angle), LENGTH * Math.sin(angle)];
};
const before: Votes = [
  [at(170), at(0)],
  [at(-60), at(120)],
];
const after: Votes = [
  [at(-150), at(0)],
  [at(40), at(120)],
];
const story = { before, said: ["", "", ""] } as const;

test("the votes turn the shorter way to where they agree, and keep their length", () => {
  const { votes } = told(story, after, 3, 0.5);
  votes.flat().forEach((vote) => assert.ok(Math.abs(Math.hypot(...vote) - LENGTH) < 1e-12));
  const expected = [
    [at(-170), at(0)],
    [at(-10), at(120)],
  ].flat(2);
  votes.flat(2).forEach((value, k) => assert.ok(Math.abs(value - expected[k]) < 1e-12));
});

test("while the votes turn, the first iteration of their own routing is shown; then its iterations, one a frame", () => {
  const early = told(story, after, 3, 0.25);
  assert.equal(early.position, 0);
  assert.deepEqual(early.steps, routeByAgreement(early.votes, 3));
  const late = told(story, after, 3, 2.5);
  assert.deepEqual([late.votes, late.position], [after, 1.5]);
  assert.deepEqual(late.steps, routeByAgreement(after, 3));
});
