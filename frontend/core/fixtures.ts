// For unit tests: the numbers that Python wrote (tests/boards/test_fixtures.py).

import { readFileSync } from "node:fs";

/** What a file of fixtures/ holds. */
export function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), "utf8"));
}

/** Bytes that were written as base 64. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "base64"));
}
