import assert from "node:assert/strict";
import { test } from "node:test";

import { isolated, lines } from "./letters";

/** Boxes of letters of which so many stand on each line. */
const lined = (across: number) => (from: number) => ({ top: 20 * Math.floor(from / across), height: 18 });

test("a word that stands on two lines is written on each of them", () => {
  assert.deepEqual(lines("mnist-dr-paper", lined(9)), ["mnist-dr-", "paper"]);
  assert.deepEqual(lines("中华人民共和国", lined(3)), ["中华人", "民共和", "国"]);
  assert.deepEqual(lines("word", lined(9)), ["word"]);
});

test("a name that is written from right to left leaves what follows it in its place", () => {
  assert.equal(isolated("חתול"), "\u2068חתול\u2069");
  assert.equal(isolated("Trouser"), "Trouser");
});
