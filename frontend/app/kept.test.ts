import assert from "node:assert/strict";
import { test } from "node:test";

import { completed } from "./kept";

const votes = new Float32Array([1, 2]);

test("what a message keeps comes from one before", () => {
  const places = new Float32Array([3]);
  assert.deepEqual(completed({ version: { votes: "a" }, kept: [], frame: 1, votes }), { frame: 1, votes });
  assert.deepEqual(completed({ version: { votes: "a" }, kept: ["votes"], frame: 2 }), { frame: 2, votes });
  const both = { votes: "a", places: "b" };
  assert.deepEqual(completed({ version: both, kept: ["votes"], places }), { votes, places });
  assert.deepEqual(completed({ version: both, kept: ["votes", "places"] }), { votes, places });
  const other = new Float32Array([4]);
  assert.deepEqual(completed({ version: { ...both, votes: "c" }, kept: ["places"], votes: other }), {
    votes: other,
    places,
  });
  assert.deepEqual(
    completed({ version: both, kept: ["votes", "places"] }),
    { votes, places },
    "of the one before that",
  );
});

test("a message that keeps what never came here, or long ago, is none", () => {
  assert.equal(completed({ version: { votes: "x" }, kept: ["votes"] }), null);
  completed({ version: { votes: "x" }, kept: [], votes });
  for (const digest of "yzuv") {
    assert.deepEqual(completed({ version: { votes: "x" }, kept: ["votes"] }), { votes }, "as long as it is asked for");
    completed({ version: { votes: digest }, kept: [], votes });
  }
  for (const digest of "abcdefghijkl") completed({ version: { votes: digest }, kept: [], votes });
  assert.equal(completed({ version: { votes: "x" }, kept: ["votes"] }), null);
});

test("a message of a host that keeps nothing is whole, and puts nothing away", () => {
  completed({ version: { votes: "w" }, kept: [], votes });
  for (let n = 0; n < 9; n++) assert.deepEqual(completed({ upper: n }), { upper: n });
  assert.deepEqual(completed({ version: { votes: "w" }, kept: ["votes"] }), { votes });
});
