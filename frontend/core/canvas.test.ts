import assert from "node:assert/strict";
import { test } from "node:test";

import { imaged, inked, surface } from "./canvas";

test("pictures lie over one another on black, each in its colour, and colours add where they meet", () => {
  const bytes = new Uint8ClampedArray(4 * 3);
  inked(bytes, [
    [Float32Array.of(1, 0, 1), "#ff8000"],
    [Float32Array.of(0, 0.5, 1), "#204060"],
  ]);
  assert.deepEqual([...bytes], [255, 128, 0, 255, 16, 32, 48, 255, 255, 192, 96, 255]);
});

test("an image is painted channel by channel, a grey one alike in all three", () => {
  const bytes = new Uint8ClampedArray(4 * 2);
  imaged(bytes, [3, 1, 2], Float32Array.of(1, 0, 0.2, 0.4, 0, 0.6));
  assert.deepEqual([...bytes], [255, 51, 0, 255, 0, 102, 153, 255]);
  imaged(bytes, [1, 2, 1], Float32Array.of(0.2, 1));
  assert.deepEqual([...bytes], [51, 51, 51, 255, 255, 255, 255, 255]);
});

test("with another zoom the same pixels stand for another size", () => {
  const pen = { setTransform: () => undefined, clearRect: () => undefined };
  const canvas = { width: 0, height: 0, style: { width: "", height: "" }, currentCSSZoom: 2, getContext: () => pen };
  Object.assign(globalThis, { window: { devicePixelRatio: 1 } });
  surface(canvas as unknown as HTMLCanvasElement, 100, 50);
  canvas.currentCSSZoom = 1;
  surface(canvas as unknown as HTMLCanvasElement, 200, 100);
  assert.deepEqual(canvas.style, { width: "200px", height: "100px" });
});

test("what is cleared stands on white in a PDF: only a canvas of the same size, which another one is already", () => {
  let cleared = 0;
  const pen = { setTransform: () => undefined, clearRect: () => ++cleared };
  const canvas = { width: 300, height: 150, style: {}, getContext: () => pen };
  Object.assign(globalThis, { window: { devicePixelRatio: 1 } });
  surface(canvas as unknown as HTMLCanvasElement, 100, 50);
  assert.equal(cleared, 0);
  surface(canvas as unknown as HTMLCanvasElement, 100, 50);
  assert.equal(cleared, 1);
});
