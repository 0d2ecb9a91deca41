import assert from "node:assert/strict";
import { test } from "node:test";

import { Leaving } from "./leaving";

function at(page: string): Leaving {
  const leaving = new Leaving();
  leaving.begun(page);
  return leaving;
}

test("a page is left from when another is asked for until that one has begun", () => {
  const leaving = at("dynamic");
  assert.equal(leaving.lasts(0, true), false);
  leaving.leaves("/compare", 10);
  assert.equal(leaving.lasts(20, true), true);
  assert.equal(leaving.begun("dynamic"), false, "drawn once more before it goes");
  assert.equal(leaving.lasts(30, true), true);
  assert.equal(leaving.begun("compare"), true);
  assert.equal(leaving.lasts(40, true), false);
});

test("a link to the page that is open leaves none, unless another is on its way", () => {
  const leaving = at("compare");
  leaving.leaves("/compare", 10);
  assert.equal(leaving.lasts(20, true), false);
  leaving.leaves("/dynamic", 30);
  leaving.leaves("/compare", 40);
  assert.equal(leaving.begun("dynamic"), false);
  assert.equal(leaving.lasts(50, true), true);
  assert.equal(leaving.begun("compare"), true);
});

test("the page at the address without a name begins, also where the app stands below a path", () => {
  for (const path of ["/", "/base/", "/base"]) {
    const leaving = at("compare");
    leaving.leaves(path, 10);
    assert.equal(leaving.lasts(20, true), true);
    assert.equal(leaving.begun(""), true);
    leaving.leaves("/base/compare", 30);
    assert.equal(leaving.begun(""), false);
    assert.equal(leaving.begun("compare"), true);
  }
});

test("nobody waits for ever for a page, but as long as a run may still begin it", () => {
  const leaving = at("compare");
  leaving.leaves("/dynamic", 100);
  assert.equal(leaving.lasts(99 + Leaving.PATIENCE, true), true);
  assert.equal(leaving.lasts(100 + Leaving.PATIENCE, false), true);
  assert.equal(leaving.lasts(100 + Leaving.PATIENCE, true), false);
});
