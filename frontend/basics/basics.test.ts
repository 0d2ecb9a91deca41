import assert from "node:assert/strict";
import { test } from "node:test";

import { fixture } from "../core/fixtures";
import { squash, squashed } from "../core/vectors";
import { marginGradient, marginLoss, type Margins } from "./margin";
import { rowsOf } from "./names";

interface Written {
  readonly squash: { readonly s: number[]; readonly v: number[] }[];
  readonly margin: {
    readonly margins: Margins;
    readonly lengths: number[];
    readonly targets: boolean[];
    readonly losses: number[];
    readonly gradients: number[];
  }[];
}

const { squash: vectors, margin: cases } = fixture("basics") as Written;

test("vectors are squashed as capsviz squashes them, and so are lengths", () => {
  assert.equal(vectors.length, 24);
  for (const { s, v } of vectors) {
    squash(s).forEach((value, k) => assert.ok(Math.abs(value - v[k]) < 1e-9));
    assert.ok(Math.abs(squashed(Math.hypot(...s)) - Math.hypot(...v)) < 1e-9);
  }
});

test("a class costs what the library's margin loss says, and is pushed against its gradient", () => {
  assert.equal(cases.length, 16);
  for (const { margins, lengths, targets, losses, gradients } of cases) {
    lengths.forEach((length, j) => {
      assert.ok(Math.abs(marginLoss(length, targets[j], margins) - losses[j]) < 1e-9);
      assert.ok(Math.abs(marginGradient(length, targets[j], margins) - gradients[j]) < 1e-9);
    });
  }
});

test("names of points that lie close together stand apart, inside the picture", () => {
  const places = [0, 1, 2, 3, 4, 5, 6, 7, 300, 395];
  const widths = [8, 60, 60, 60, 8, 90, 90, 60, 60, 60];
  const found = rowsOf(places, widths, 0, 400);
  found.forEach(({ x, row }, k) => {
    assert.ok(x - widths[k] / 2 >= 0 && x + widths[k] / 2 <= 400);
    found.forEach((other, l) => {
      if (l !== k && other.row === row) assert.ok(Math.abs(other.x - x) >= (widths[k] + widths[l]) / 2 + 5);
    });
  });
  assert.deepEqual(
    rowsOf([0, 100], [10, 10], 0, 400).map(({ row }) => row),
    [0, 0],
  );
});
