import assert from "node:assert/strict";
import { test } from "node:test";

import { completed } from "./kept";

const node = (): Node => ({}) as Node;
const votes = new Float32Array([1, 2]);

test("what a message keeps comes from the one before", () => {
  const [place, places] = [node(), new Float32Array([3])];
  assert.deepEqual(completed(place, { version: { votes: "a" }, kept: [], frame: 1, votes }), { frame: 1, votes });
  assert.deepEqual(completed(place, { version: { votes: "a" }, kept: ["votes"], frame: 2 }), { frame: 2, votes });
  const both = { votes: "a", places: "b" };
  assert.deepEqual(completed(place, { version: both, kept: ["votes"], places }), { votes, places });
  assert.deepEqual(completed(place, { version: both, kept: ["votes", "places"] }), { votes, places });
  const other = new Float32Array([4]);
  assert.deepEqual(completed(place, { version: { ...both, votes: "c" }, kept: ["places"], votes: other }), {
    votes: other,
    places,
  });
});

test("a message that keeps what never came here is none, and what is here stays", () => {
  const place = node();
  assert.equal(completed(place, { version: { votes: "a" }, kept: ["votes"] }), null);
  completed(place, { version: { votes: "a" }, kept: [], votes });
  assert.equal(completed(place, { version: { votes: "b" }, kept: ["votes"] }), null);
  assert.equal(completed(node(), { version: { votes: "a" }, kept: ["votes"] }), null, "each place by itself");
  assert.deepEqual(completed(place, { version: { votes: "a" }, kept: ["votes"] }), { votes });
});

test("a message of a host that keeps nothing is whole", () => {
  assert.deepEqual(completed(node(), { upper: 3 }), { upper: 3 });
});
