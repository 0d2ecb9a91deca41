import assert from "node:assert/strict";
import { test } from "node:test";

import { keyOf } from "./key";

const means = (key: string, code: string, altKey = false): string => keyOf({ key, code, altKey });

test("a letter is the same with caps lock, and what has a name stays", () => {
  assert.equal(means("P", "KeyP"), "p");
  assert.equal(means("b", "KeyB"), "b");
  assert.equal(means("ArrowLeft", "ArrowLeft"), "ArrowLeft");
  assert.equal(means("?", "Slash"), "?");
});

test("keyboards of other scripts have their commands where Latin ones have them", () => {
  assert.equal(means("з", "KeyP"), "p");
  assert.equal(means("И", "KeyB"), "b");
  assert.equal(means("х", "BracketLeft"), "[");
  assert.equal(means("ش", "KeyA"), "a");
  assert.equal(means("٣", "Digit3"), "3");
  assert.equal(means("ㅔ", "KeyP"), "p");
});

test("Latin keyboards have theirs where they write them", () => {
  assert.equal(means("ü", "BracketLeft"), "ü");
  assert.equal(means("é", "Digit2"), "é");
  assert.equal(means("−", "Minus"), "−");
  for (const key of "§·¡¿²½«“•") assert.equal(means(key, "Digit3"), key);
  assert.equal(means("х", "BracketLeft", true), "х");
  assert.equal(means("a", "KeyQ"), "a");
});
