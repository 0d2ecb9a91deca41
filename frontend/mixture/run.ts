// What the board shows at each half step, computed from where the visitor has laid everything.

import { maxIndex, minIndex } from "d3-array";
import { lab } from "d3-color";

import { indices } from "../core/numbers";
import { type Covariance, fit, type Gaussian, type HalfStep, type Point, route, type RoutingStep } from "./em";

/** All that the visitor chooses but the half step, in the names of capsviz/boards/mixture.py. */
export interface State {
  readonly preset: string;
  readonly seed: number;
  /** null: those of the preset. */
  readonly points: readonly Point[] | null;
  readonly gaussians: number;
  readonly covariance: Covariance;
  readonly turn: number;
  readonly votes: boolean;
  readonly temperature: number;
  readonly beta_u: number;
  readonly beta_a: number;
  readonly even: boolean;
  readonly point: number | null;
}

export interface Start {
  readonly means: readonly [number, number][];
  readonly covariances: readonly (readonly (readonly number[])[])[];
  readonly weights: readonly number[];
}

/** What is known at a frame; null: nothing yet. */
export interface Frame {
  readonly gaussians: readonly Gaussian[] | null;
  /** r or R, by point and Gaussian. */
  readonly owned: readonly (readonly number[])[] | null;
  /** π of a mixture, a of parents. */
  readonly strengths: readonly number[] | null;
}

export interface Run {
  readonly points: readonly Point[];
  readonly mixture: readonly HalfStep[];
  /** Frames of the mixture, and of the points as votes. */
  readonly frames: readonly Frame[];
  readonly routed: readonly RoutingStep[] | null;
  readonly routedFrames: readonly Frame[] | null;
  /** λ of each iteration. */
  readonly temperatures: readonly number[];
}

/** Computes all half steps; ramp: the share of λ that each iteration has. */
export function run(state: State, points: readonly Point[], start: Start, floor: number, ramp: readonly number[]): Run {
  const gaussians = start.means.map((mean, k): Gaussian => {
    const [[xx, xy], [, yy]] = start.covariances[k];
    return { mean, covariance: [xx, xy, yy] };
  });
  const mixture = fit(points, { gaussians, weights: start.weights }, ramp.length, state.covariance, floor);
  const frames = mixture.map(({ gaussians, owned, weights }) => ({ gaussians, owned, strengths: weights }));
  const temperatures = ramp.map((share) => share * state.temperature);
  if (!state.votes) return { points, mixture, frames, routed: null, routedFrames: null, temperatures };
  const { beta_u, beta_a, even } = state;
  const owned = mixture[1].owned?.map((row) => (even ? row.map(() => 1 / row.length) : row)) ?? [];
  const routed = route(points, owned, { beta_u, beta_a, temperatures }, floor);
  const from = even ? null : gaussians;
  const routedFrames: Frame[] = [
    { gaussians: from, owned: null, strengths: null },
    { gaussians: from, owned, strengths: null },
  ];
  routed.forEach(({ gaussians, activations, responsibilities, posteriors }) => {
    routedFrames.push({ gaussians, owned: responsibilities, strengths: activations });
    routedFrames.push({ gaussians, owned: posteriors, strengths: activations });
  });
  return { points, mixture, frames, routed, routedFrames: routedFrames.slice(0, frames.length), temperatures };
}

/** What lies between two frames; what only the later one has comes with it. */
export function between(frames: readonly Frame[], position: number): Frame {
  const first = Math.min(Math.floor(position), frames.length - 1);
  const from = frames[first];
  const to = frames[Math.min(first + 1, frames.length - 1)];
  const way = position - first;
  if (way === 0) return from;
  const mix = (a: readonly number[], b: readonly number[]): number[] =>
    a.map((value, k) => value + way * (b[k] - value));
  return {
    gaussians:
      from.gaussians && to.gaussians
        ? from.gaussians.map(({ mean, covariance }, k) => ({
            mean: mix(mean, to.gaussians?.[k].mean ?? mean) as [number, number],
            covariance: mix(covariance, to.gaussians?.[k].covariance ?? covariance) as [number, number, number],
          }))
        : from.gaussians,
    owned: from.owned && to.owned ? from.owned.map((row, i) => mix(row, to.owned?.[i] ?? row)) : from.owned,
    strengths: from.strengths && to.strengths ? mix(from.strengths, to.strengths) : from.strengths,
  };
}

/** The point that is shared most evenly. */
export function mostShared(owned: readonly (readonly number[])[]): number {
  const most = minIndex(owned, (row) => Math.max(...row));
  return Math.max(0, most); // of no points the first
}

/** The points whose strongest owner is another one than in a second picture. */
export function changed(owned: Frame["owned"], before: Frame["owned"]): number[] {
  if (!owned || !before) return [];
  return indices(owned.length).filter((i) => maxIndex(owned[i]) !== maxIndex(before[i]));
}

/** A colour between those of the Gaussians, by shares that add up to one: their mean in CIELAB. */
export function mixed(colours: readonly string[], shares: readonly number[]): string {
  const parts = shares.map((share, k) => ({ share, colour: lab(colours[k]) }));
  const mean = (channel: "l" | "a" | "b"): number =>
    parts.reduce((sum, { share, colour }) => sum + share * colour[channel], 0);
  return lab(mean("l"), mean("a"), mean("b")).formatHex();
}
