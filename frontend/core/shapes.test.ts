import assert from "node:assert/strict";
import { test } from "node:test";

import type { Pen } from "./canvas";
import type { Look } from "./look";
import { bubble, fitted, scaleBar, within } from "./shapes";

test("a line that stays inside the box keeps its end", () => {
  assert.deepEqual(within([50, 50], [80, 20], 0, 0, 100, 100), [[80, 20], false]);
});

test("a line that leaves the box is cut where it crosses its border, in its own direction", () => {
  assert.deepEqual(within([50, 50], [250, 50], 0, 0, 100, 100), [[100, 50], true]);
  assert.deepEqual(within([50, 50], [150, 250], 0, 0, 100, 100), [[75, 100], true]);
  assert.deepEqual(within([50, 50], [-50, -150], 0, 0, 100, 100), [[25, 0], true]);
});

test("a bubble and all its lines stand inside the picture, in type of any size", () => {
  for (const scale of [1, 1.7]) {
    for (const place of [
      [5, 5],
      [395, 295],
      [200, 150],
    ] as const) {
      const written: number[] = [];
      let box: number[] = [];
      const pen = {
        measureText: (text: string) => ({ width: 8 * scale * text.length }),
        roundRect: (...given: number[]) => (box = given),
        fillText: (_: string, __: number, y: number) => written.push(y),
        beginPath: () => undefined,
        fill: () => undefined,
        stroke: () => undefined,
      } as unknown as Pen;
      const look = { scale, type: () => "", theme: { ground: "", muted: "", text: "" } } as unknown as Look;
      bubble(pen, ["a point", "0.1", "0.2", "0.3", "0.4"], place, { width: 400, height: 300 }, look);
      const [left, top, across, down] = box;
      assert.ok(left >= 0 && top >= 0 && left + across <= 400 && top + down <= 300, box.join());
      assert.ok(written.every((y, k) => y > top && y < top + down && (k === 0 || y - written[k - 1] > 18.9 * scale)));
    }
  }
});

test("of several texts the first that fits is written, and only where none does the last one is cut", () => {
  const pen = { measureText: (text: string) => ({ width: 10 * text.length }) } as unknown as Pen;
  const titles = ["Length ‖v‖ of each class", "Length ‖v‖"];
  assert.equal(fitted(pen, titles, 240), titles[0]);
  assert.equal(fitted(pen, titles, 239), titles[1]);
  assert.equal(fitted(pen, titles, 99), "Length ‖…");
  assert.equal(fitted(pen, titles, 80), "Length…");
  const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";
  assert.equal(fitted(pen, `a${family}bcdef`, 100), `a${family}…`, "what is one sign is not cut");
  assert.equal(fitted(pen, `a${family}bcdef`, 99), "a…");
});

test("the numbers beside a row of colours stand at its middle, and in type of any size not far above it", () => {
  for (const [scale, beyond] of [
    [1, 1],
    [1.725, 1],
    [3.45, 2],
  ]) {
    const baselines: number[] = [];
    let high = 0;
    const pen = {
      measureText: (text: string) => ({ width: 8 * scale * text.length }),
      fillText: (_: string, __: number, y: number) => baselines.push(y),
      fillRect: (...[, , , down]: number[]) => (high = down),
    } as unknown as Pen;
    const look = { scale, beyond, type: () => "", theme: { muted: "" } } as unknown as Look;
    scaleBar(pen, 300, 20, ["red", "blue"], ["0", "1"], look);
    const letters = 0.68 * 13 * scale; // how high a digit is
    assert.equal(baselines.length, 2);
    for (const baseline of baselines) {
      assert.ok(Math.abs(baseline - letters / 2 - (20 + high / 2)) < 0.5);
      assert.ok(baseline - letters > 18);
    }
  }
});
