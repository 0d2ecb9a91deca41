import assert from "node:assert/strict";
import { test } from "node:test";

import { type At, Hall, hall, understood } from "./hall";

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

test("of several windows of the hall, the last that moved or opened the notes answers", async (context) => {
  const at = (step: number): At => ({ kind: "at", tour: "talk", step, away: false });
  const [one, other] = [new Hall(), new Hall()];
  const mounted = new Map<unknown, AbortController>();
  const mount = (window: unknown): AbortSignal => {
    mounted.get(window)?.abort();
    const mine = new AbortController();
    mounted.set(window, mine);
    return mine.signal;
  };
  context.after(() => {
    for (const each of mounted.values()) each.abort();
  });
  const stand = (window: Hall, step: number): void => window.stand(at(step), mount(window), () => undefined);
  let heard: unknown[] = [];
  const ask = hall(mount("notes"), (said) => heard.push(said));
  const answers = async (): Promise<unknown[]> => {
    const passes = (): Promise<void> => new Promise((passed) => setTimeout(passed, 50));
    await passes();
    heard = [];
    ask({ kind: "where" });
    await passes();
    return heard;
  };
  stand(one, 1);
  stand(other, 3);
  assert.deepEqual(await answers(), [at(3)]);
  stand(one, 1); // in another theme, say
  assert.deepEqual(await answers(), [at(3)]);
  one.lead();
  assert.deepEqual(await answers(), [at(1)]);
  stand(other, 4);
  assert.deepEqual(await answers(), [at(4)]);
});

test("a window that may not speak to others stands alone", (context) => {
  const own = globalThis.BroadcastChannel;
  context.after(() => (globalThis.BroadcastChannel = own));
  globalThis.BroadcastChannel = function () {
    throw new DOMException("", "SecurityError");
  } as never;
  hall(new AbortController().signal, () => undefined)({ kind: "where" });
});
