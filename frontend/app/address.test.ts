import assert from "node:assert/strict";
import { test } from "node:test";

import { choices, sorted } from "./address";

test("what Streamlit keeps in an address for itself is no choice of the visitor's", () => {
  assert.deepEqual(choices("?model=digits-dr&embed=true&EMBED_OPTIONS=dark&class=3"), {
    model: "digits-dr",
    class: "3",
  });
});

test("two queries with the same choices in another order are equal, with another choice they are not", () => {
  assert.equal(sorted(choices("?b=2&a=1")), sorted({ a: "1", b: "2" }));
  assert.notEqual(sorted(choices("?b=2&a=1")), sorted({ a: "1", b: "3" }));
});
