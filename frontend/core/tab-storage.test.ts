import assert from "node:assert/strict";
import { test } from "node:test";

import { keep, recalled } from "./tab-storage";

function storing(storage: Partial<Storage>): void {
  Object.defineProperty(globalThis, "sessionStorage", { value: storage, configurable: true });
}

test("what was kept comes back, and nothing where nothing was", () => {
  const kept = new Map<string, string>();
  storing({ getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => void kept.set(name, text) });
  keep("clock", { passed: 7 });
  assert.deepEqual(recalled("clock"), { passed: 7 });
  assert.equal(recalled("pad"), null);
});

test("a browser that refuses the storage, or has other text there, loses nothing else", () => {
  const refuse = (): never => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  };
  storing({ getItem: refuse, setItem: refuse });
  keep("clock", 7);
  assert.equal(recalled("clock"), null);
  storing({ getItem: () => "7," });
  assert.equal(recalled("clock"), null);
});
