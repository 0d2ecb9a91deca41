import assert from "node:assert/strict";
import { test } from "node:test";

import { bytesOf, fixture } from "../core/fixtures";
import { unpack } from "../core/message";
import { Decoder, type Weights } from "./network";
import { angleBetween, onTheWay } from "./interpolation";

interface Fixture {
  packed: string;
  cases: { label: number; pose: number[]; image: number[] }[];
  walks: { to: [number, number]; share: number; sphere: boolean; image: number[] }[];
}

const { packed, cases, walks } = fixture("decoder") as Fixture;
const message = unpack(bytesOf(packed)) as { weights: Weights; numbers: Float32Array };
const decoder = new Decoder({ ...message.weights, numbers: message.numbers });

function same(ours: Float32Array, theirs: readonly number[]): void {
  assert.equal(ours.length, theirs.length);
  theirs.forEach((value, k) => assert.ok(Math.abs(ours[k] - value) < 1e-5, `pixel ${k}: ${ours[k]}, not ${value}`));
}

test("a capsule is drawn as PyTorch draws it", () => {
  assert.ok(cases.length > 10);
  for (const { label, pose, image } of cases) same(decoder.draw([[label, pose]]), image);
});

test("a walk is drawn as PyTorch draws it, straight on and along the sphere, within a class and to another one", () => {
  assert.equal(walks.length, 16);
  for (const { to, share, sphere, image } of walks) {
    const [label, number] = to;
    const ends = [[0, decoder.exemplar(0, 0)] as const, [label, decoder.exemplar(label, number)] as const] as const;
    same(decoder.draw(onTheWay(...ends, share, sphere)), image);
  }
});

test("capsules of two classes are orthogonal, and a capsule is at no angle to itself", () => {
  assert.equal(angleBetween([0, [1, 0]], [1, [1, 0]]), Math.PI / 2);
  assert.equal(angleBetween([0, [1, 0]], [0, [3, 0]]), 0);
});

test("where no great circle leads from one capsule to the other, the walk is straight", () => {
  assert.deepEqual(onTheWay([0, [0, 0]], [0, [2, 4]], 0.5, true), [[0, [1, 2]]]);
  assert.deepEqual(onTheWay([0, [1, 0]], [0, [-1, 0]], 0.25, true), [[0, [0.5, 0]]]);
});

test("how far a number is from the mean of its class is told in deviations of the class", () => {
  const deviation = decoder.deviations(2)[1];
  // The fixture's means are half of its deviations.
  assert.ok(Math.abs(decoder.deviated(2, 1, 2.5 * deviation) - 2) < 1e-5);
  assert.equal(decoder.measured, true);
});
