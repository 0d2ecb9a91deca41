import assert from "node:assert/strict";
import { test } from "node:test";

import { SharedValue } from "./shared-value";

test("what the host says first is taken over, and saying it again under a busy hand is no news", () => {
  const value = new SharedValue();
  assert.equal(value.takes(3, 0), true);
  assert.equal(value.takes(3, 0, true), false);
  assert.equal(value.takes(3, 0), true); // nothing is on its way: the host may insist
});

test("a value is sent once, and its echo moves nothing", () => {
  const value = new SharedValue();
  value.takes(null, 0);
  assert.equal(value.sends(6), true);
  assert.equal(value.sends(6), false);
  assert.equal(value.takes(6, 1), false);
});

test("while a newer value is on its way, the echo of an older one moves nothing", () => {
  const value = new SharedValue();
  value.takes(null, 0);
  value.sends(6);
  value.sends(8);
  assert.equal(value.takes(6, 1), false);
  assert.equal(value.isKnown(8), true);
  assert.equal(value.takes(8, 2), false);
});

test("an echo that is said twice is not that of the same value sent once more", () => {
  const value = new SharedValue();
  value.takes("one point", 0);
  for (const each of ["two points", "three points", "two points"]) value.sends(each);
  assert.equal(value.takes("two points", 1), false);
  assert.equal(value.takes("two points", 1), false); // drawn anew, as after another key of the page
  assert.equal(value.takes("three points", 2), false);
  assert.equal(value.takes("two points", 3), false);
  assert.equal(value.takes("one point", 3), true); // nothing is on its way: that is news
});

test("what the host acknowledged and does not say has been undone", () => {
  const value = new SharedValue();
  value.takes(3, 0);
  value.sends(5);
  assert.equal(value.takes(3, 0), false); // it has not heard of 5 yet
  assert.equal(value.takes(3, 1), true); // it has
});

test("news overtake whatever is on its way", () => {
  const value = new SharedValue();
  value.takes(3, 0);
  value.sends(5);
  assert.equal(value.takes(4, 0, true), true);
  assert.equal(value.isKnown(4), true);
});

test("values are compared by what they say, not by identity", () => {
  const value = new SharedValue();
  value.takes({ a: [1, 2] }, 0);
  assert.equal(value.sends({ a: [1, 2] }), false);
});

test("what is forgotten is sent again, though the host has said it", () => {
  const value = new SharedValue();
  value.takes(null);
  assert.ok(!value.sends(null) && !value.waits);
  value.forget();
  assert.ok(value.sends(null) && value.waits);
  value.takes(null);
  assert.ok(!value.waits);
});
