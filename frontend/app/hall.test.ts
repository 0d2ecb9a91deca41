import assert from "node:assert/strict";
import { test } from "node:test";

import { hall, understood } from "./hall";

test("only what our windows say is understood", () => {
  const at = { kind: "at", tour: "talk", step: 3, away: true };
  assert.deepEqual(understood(at), at);
  assert.deepEqual(understood({ ...at, away: "yes", more: 1 }), { ...at, away: false });
  assert.deepEqual(understood({ kind: "where", tour: 4 }), { kind: "where" });
  assert.deepEqual(understood({ kind: "go", tour: "talk", step: 1 }), { kind: "go", tour: "talk", step: 1 });
  for (const other of [
    null,
    "at",
    7,
    {},
    { ...at, step: 0 },
    { ...at, step: 1.5 },
    { ...at, tour: 1 },
    { ...at, kind: "x" },
  ])
    assert.equal(understood(other), null);
});

test("a window hears the others, not itself, until it is closed", async () => {
  const one = new AbortController(),
    other = new AbortController();
  const heard: unknown[] = [];
  const say = hall(one.signal, (said) => heard.push(["one", said]));
  const answer = hall(other.signal, (said) => heard.push(["other", said]));
  say({ kind: "where" });
  await new Promise((passed) => setTimeout(passed, 50));
  assert.deepEqual(heard, [["other", { kind: "where" }]]);
  other.abort();
  say({ kind: "where" });
  await new Promise((passed) => setTimeout(passed, 50));
  assert.equal(heard.length, 1);
  assert.throws(() => answer({ kind: "where" }));
  one.abort();
});
