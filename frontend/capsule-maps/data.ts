// What capsviz/boards/capsule_maps.py packs: its doc says what each field and array is.

import type { Shape } from "../core/canvas";
import type { Theme } from "../core/colours";
import type { Field } from "../core/receptive-field";
import { indices } from "../core/numbers";

interface MapFields {
  readonly title: string;
  readonly note: string;
  readonly symbol: string;
  /** Whether its signs are counted. */
  readonly counted: boolean;
  readonly frames: number;
  /** What the strongest colour stands for; the least and the largest number. */
  readonly reach: number;
  readonly low: number;
  readonly high: number;
}

interface CurveFields {
  readonly title: string;
  readonly percent: boolean;
  readonly lines: readonly { readonly name: string; readonly colour: string }[];
}

interface LineFields {
  /** In HTML. */
  readonly math: string;
  /** Whether it is run anew for every frame. */
  readonly looped: boolean;
  /** What is written before each number, and how many frames ago the first map had it; null where it was sent. */
  readonly numbers: readonly { readonly text: string; readonly ago: number | null }[];
}

export interface MapsFields {
  readonly grid: readonly [rows: number, columns: number, types: number];
  /** Rows and columns of the small multiples. */
  readonly shape: readonly [rows: number, columns: number];
  readonly maps: readonly MapFields[];
  readonly frames: readonly string[];
  readonly curves: readonly CurveFields[];
  readonly lines: readonly LineFields[];
  readonly histogram: boolean;
  readonly classes: readonly string[];
  readonly upper: number;
  readonly image: Shape | null;
  readonly field: Field | null;
  readonly alt: string;
  /** What is written where no capsule is chosen. */
  readonly hint: string;
  readonly theme: Theme;
  /** Number of the capsule in each cell of the small multiples, −1 in the gaps. */
  readonly cells: Float32Array;
  /** Where each frame lies on the way. */
  readonly steps: Float32Array;
  /** Of every capsule the first map's quantity for all classes. */
  readonly per_class?: Float32Array;
  readonly pixels?: Float32Array;
}

/** The numbers of capsule maps. */
export class MapsData {
  readonly lower: number;

  constructor(readonly fields: MapsFields) {
    const [rows, columns, types] = fields.grid;
    this.lower = rows * columns * types;
  }

  private array(name: string): Float32Array {
    return (this.fields as unknown as Record<string, Float32Array>)[name];
  }

  map(number: number): Float32Array {
    return this.array(`map${number}`);
  }

  curve(number: number, line: number): Float32Array {
    return this.array(`curve${number}.${line}`);
  }

  /** A map's numbers at a position: those of a frame, or between two of them. */
  at(map: number, position: number): Float32Array {
    const values = this.map(map);
    const last = this.fields.maps[map].frames - 1;
    const place = Math.min(position, last);
    const first = Math.floor(place);
    const [from, to] = [first * this.lower, Math.min(first + 1, last) * this.lower];
    return Float32Array.from({ length: this.lower }, (_, i) => {
      return values[from + i] + (place - first) * (values[to + i] - values[from + i]);
    });
  }

  /** Where on its way a position is: frames are as far apart as their steps. */
  step(position: number): number {
    const { steps } = this.fields;
    const first = Math.floor(position);
    const next = Math.min(first + 1, steps.length - 1);
    return steps[first] + (position - first) * (steps[next] - steps[first]);
  }

  /** Row, column and type of a capsule. */
  place(capsule: number): [row: number, column: number, kind: number] {
    const [, columns, types] = this.fields.grid;
    const position = Math.floor(capsule / types);
    return [Math.floor(position / columns), position % columns, capsule % types];
  }

  /** The capsule drawn next to one, over the gap between two tiles; at the border the same one. */
  beside(capsule: number, right: number, down: number): number {
    const { cells, shape } = this.fields;
    const [rows, columns] = shape;
    const at = cells.indexOf(capsule);
    let [x, y] = [at % columns, Math.floor(at / columns)];
    for (;;) {
      [x, y] = [x + right, y + down];
      if (x < 0 || x >= columns || y < 0 || y >= rows) return capsule;
      if (cells[y * columns + x] >= 0) return cells[y * columns + x];
    }
  }

  /** The capsule whose number on the first map ends up largest. */
  strongest(): number {
    const last = this.map(0).subarray(-this.lower);
    return indices(this.lower).reduce((best, i) => (Math.abs(last[i]) > Math.abs(last[best]) ? i : best), 0);
  }

  /** What that capsule is said to be: of two maps it is the first one's, and of several frames the last one's. */
  get superlative(): string {
    const [{ symbol, frames }, ...others] = this.fields.maps;
    return `the strongest${others.length ? ` ${symbol}` : ""}${frames > 1 ? " in the end" : ""}`;
  }

  /**
   * Number n of a line in a round of the algorithm: the first map's, so many frames ago, or one that was sent for it. Not
   * a number where none is known.
   */
  number(line: number, n: number, round: number, capsule: number): number {
    const { ago } = this.fields.lines[line].numbers[n];
    const values = ago === null ? this.array(`line${line}.${n}`) : this.map(0);
    const frames = ago === null ? this.fields.frames.length : this.fields.maps[0].frames;
    const frame = Math.min(round, frames - 1) - (ago ?? 0);
    if (frame < 0) return NaN;
    return values.length === frames ? values[frame] : values[frame * this.lower + capsule];
  }
}

/** Which round of the algorithm a position is in, and which of its looped lines was run last. */
export function roundAt(position: number, looped: number): { round: number; line: number } {
  const round = Math.max(0, Math.ceil(position - 1e-6)); // between two frames the lines of the later one's round are run
  const way = position - (round - 1);
  return { round, line: Math.min(looped - 1, Math.floor(way * looped + 1e-6)) };
}
