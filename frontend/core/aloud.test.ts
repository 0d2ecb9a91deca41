import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { aloud } from "./aloud";

/** As much of an element as says its words, or holds those that are read out. */
class Place {
  textContent = "";
  className = "";
  held: Place[] = [];
  within: Place | undefined;
  append(...held: Place[]): void {
    for (const each of held) each.within = this;
    this.held.push(...held);
  }
  remove(): void {
    if (this.within) this.within.held = this.within.held.filter((each) => each !== this);
  }
  readonly setAttribute = (): void => undefined;
  checkVisibility(): boolean {
    return true;
  }
  getRootNode(): object {
    return {};
  }
}

test("what plays as a page opens is read out at its end, once, and not what stood there first", () => {
  mock.timers.enable();
  const body = new Place();
  const player = { timer: 1 };
  let changed = (): void => undefined;
  class MutationObserver {
    constructor(heard: () => void) {
      changed = heard;
    }
    readonly observe = (): void => undefined;
  }
  Object.assign(globalThis, {
    window: globalThis,
    document: { body, createElement: () => new Place(), querySelector: () => body.held.at(0) },
    MutationObserver,
    capsvizPlayers: { all: [player] },
  });
  const frame = aloud(new Place() as unknown as HTMLElement);
  const says = (words: string): void => {
    frame.textContent = words;
    changed();
  };
  const heard = (milliseconds: number): string[] => {
    mock.timers.tick(milliseconds);
    return body.held[0].held.map(({ textContent }) => textContent);
  };
  says("iteration 1 of 3");
  assert.deepEqual(heard(1000), []);
  says("iteration 2 of 3");
  says("iteration 3 of 3");
  assert.deepEqual(heard(1000), [], "it plays");
  player.timer = 0;
  assert.deepEqual(heard(1000), ["iteration 3 of 3"]);
  assert.deepEqual(heard(10_000), []);
});
