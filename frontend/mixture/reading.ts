// What the lines of the algorithm and the bars say at a frame.

import { shown } from "../core/numbers";
import type { Run } from "./run";

interface Reading {
  /** Lines of the algorithm that are executed; −1: none. */
  readonly lit: number | readonly number[];
  readonly texts: readonly string[];
  /** Of the bars: what they are, their symbol, and what stands behind each. */
  readonly label: string;
  readonly symbol: string;
  readonly more: readonly string[];
}

const list = (values: readonly number[] | null | undefined): string =>
  values?.map((value) => shown(value, 2)).join("  ") ?? "…";

/** Of a mixture at half step `index`, of point `i`. */
export function readMixture({ mixture }: Run, index: number, i: number): Reading {
  const { gaussians, owned } = mixture[index];
  const means = gaussians.map(({ mean: [x, y] }) => `(${shown(x, 2)}, ${shown(y, 2)})`).join("  ");
  return {
    lit: index === 0 ? -1 : index % 2 ? 0 : 1,
    texts: [`r = ${list(owned?.[i])}`, `μ = ${index > 1 ? means : "…"}`],
    label: "Weights π of the Gaussians",
    symbol: "π",
    more: gaussians.map((_, k) => {
      const n = owned?.reduce((all, row) => all + row[k], 0); // how much the Gaussian owns
      return n === undefined ? "" : `n = ${shown(n, 1)}`;
    }),
  };
}

/** Of the points as votes at half step `index`, of point `i`. */
export function readVotes({ routed, routedFrames, frames, temperatures }: Run, index: number, i: number): Reading {
  const iteration = Math.floor(index / 2) - 1;
  const step = routed?.[iteration];
  const frame = routedFrames?.[index];
  const deviations = step?.gaussians
    .map(({ covariance: [xx, , yy] }) => `${shown(Math.sqrt(xx), 2)} · ${shown(Math.sqrt(yy), 2)}`)
    .join("   ");
  const lambda = step ? shown(temperatures[iteration], 2) : "…";
  return {
    lit: index < 2 ? -1 : index % 2 ? 2 : [0, 1],
    texts: [
      `σ = ${deviations ?? "…"}`,
      `λ = ${lambda},  Σcost = ${list(step?.cost)}  →  a = ${list(step?.activations)}`,
      `R = ${list(frame?.owned?.[i])}`,
    ],
    label: "Activations a of the parents, marked where the mixture's π is",
    symbol: "a",
    more: frames[index].strengths?.map((weight) => `π = ${shown(weight, 2)}`) ?? [],
  };
}
