// What the board's three ways of moving a capsule have in common, and what they see of the board.

import type { Acknowledged } from "../core/board";
import type { ColourTable } from "../core/colours";
import { element } from "../core/dom";
import type { Capsule, Decoder } from "./network";

/** Where everything stands. */
export interface State {
  /** The class capsule that is drawn. */
  upper: number;
  /** What is added to each of its dimensions. */
  offsets: number[];
  /** Where a walk ends: a class, and the number of one of its exemplars, or OWN. */
  to: [label: number, exemplar: number];
  /** How far the walk is, 0 to 1. */
  share: number;
  /** Along the sphere instead of straight on. */
  sphere: boolean;
}

/** In place of an exemplar: what this image's own capsule of that class is. */
export const OWN = -1;

export interface DecoderMessage {
  readonly decoders: readonly {
    readonly title: string;
    readonly digest: string;
    /** What 1 is of the network's own numbers. */
    readonly unit: number;
    /** Class capsules in that unit, "upper dim". */
    readonly poses: readonly (readonly number[])[];
    /** Classes that the image shows, where it shows several: those that do not move stand beside the one that does. */
    readonly present: readonly number[];
  }[];
  readonly state: State;
  readonly acknowledged: Acknowledged;
  readonly hand: "sliders" | "cells" | "walk";
  /** Whose capsules grid and strips show. */
  readonly lead: number;
  readonly classes: readonly string[];
  /** For each class a word per dimension, or "". */
  readonly labels: readonly (readonly string[])[];
  readonly reach: number;
  readonly step: number;
}

/** The board, as what moves its capsule sees it. */
export interface Workbench {
  readonly data: DecoderMessage;
  readonly state: State;
  readonly colours: ColourTable;
  /** When the visitor's hand last moved. */
  hand: number | undefined;
  /** Whether the hand holds something. */
  dragging: boolean;
  /** A decoder, undefined before its weights have arrived. */
  decoder(place: number): Decoder | undefined;
  /** The chosen class capsule of a decoder with the offsets added. */
  movedPose(place: number): number[];
  /** Move one number of the capsule. */
  offset(dimension: number, offset: number, stamp: number | undefined): void;
  reset(event: Event): void;
  /** Another class capsule; its offsets are those of the one before. */
  select(label: number, tell?: boolean): void;
  /** The host hears where the visitor left everything, at once or after a moment's rest. */
  leave(): void;
  leaveSoon(): void;
  /** What waits for that rest is not told. */
  forget(): void;
  /** Something moved: draw in the next frame. */
  moved(stamp: number | undefined): void;
}

export interface HandPanel {
  readonly root: HTMLElement;
  /** Whether something plays. */
  readonly playing?: boolean;
  /** The capsules that a decoder draws, where they are others than the moved pose. */
  capsules?(place: number): Capsule[];
  /** Other capsules, other meanings, another theme, or a decoder that has arrived. */
  refresh(): void;
  /** What is written, after a move. */
  write(): void;
  /** The hand has let go. */
  released?(): void;
  destroy?(): void;
}

/** The colours of a scale, and what its two ends are. */
export function scaleKey(low: string, high: string): HTMLElement {
  const ends = [
    element("span", { className: "low", textContent: low }),
    element("span", { className: "high", textContent: high }),
  ];
  return element("span", { className: "key" }, ...ends);
}
