// What every picture over the amounts shares: where an amount lies, and how a pointer chooses one.

import { scaleLinear } from "d3-scale";

import type { Pen } from "../core/canvas";
import type { Theme } from "../core/colours";
import type { Look } from "../core/look";
import { ScrubbedPanel } from "../core/scrubbed";
import { line, strokeIn } from "../core/shapes";

interface Method {
  readonly title: string;
  readonly colour: string;
  /** By amount, the strongest class that is not shown. */
  readonly others: readonly string[];
  readonly lost: readonly boolean[];
  /** Where it is lost, in words. */
  readonly said: string;
}

interface NumbersPanel {
  readonly title: string;
  /** Which number each row is. */
  readonly rows: readonly number[];
  /** What the strongest colour stands for. */
  readonly reach: number;
}

/** What the host says of a sweep: `capsviz/boards/sweep.py`. */
export interface SweepFields {
  readonly change: string;
  readonly amounts: readonly number[];
  readonly names: readonly string[];
  /** The amount that changes nothing. */
  readonly neutral: number;
  readonly frame: number | null;
  readonly shape: readonly [number, number, number];
  readonly label: string;
  /** Whose drawings are shown; empty: nobody draws. */
  readonly drawer: string;
  /** By amount, the class that it draws. */
  readonly named: readonly string[];
  readonly methods: readonly Method[];
  readonly panels: readonly NumbersPanel[];
  readonly theme: Theme;
  readonly images: Float32Array;
  readonly drawn?: Float32Array;
  readonly [array: `own${number}` | `other${number}` | `numbers${number}`]: Float32Array;
}

export interface Scene {
  readonly data: SweepFields;
  readonly look: Look;
  /** Among the amounts: a whole number, or between two. */
  readonly position: number;
}

export const UNDER = 19; // CSS pixels below a picture, for the amounts, in ordinary type
const EDGE = 4;

/** A picture over the amounts; pointing goes to the one that is nearest. */
export abstract class AmountsPanel extends ScrubbedPanel<Scene> {
  /** number: which of the methods, or of the panels of numbers, it shows. */
  constructor(
    protected readonly number: number,
    go: (frame: number) => void,
  ) {
    super(go);
  }

  /** CSS pixels left of the picture. */
  protected abstract left(look: Look): number;

  protected x({ data: { amounts }, look }: Scene): (amount: number) => number {
    return scaleLinear([amounts[0], amounts[amounts.length - 1]], [this.left(look), this.width - EDGE]);
  }

  protected places(scene: Scene): number[] {
    return scene.data.amounts.map(this.x(scene));
  }

  /** The first amount, the one that changes nothing and the last, and a line where it stands. */
  protected axis(pen: Pen, scene: Scene, top = 0): void {
    const { data, look, position } = scene;
    const { amounts, names, neutral } = data;
    const x = this.x(scene);
    const last = amounts.length - 1;
    pen.font = look.type(13);
    pen.fillStyle = look.theme.muted;
    for (const [at, align] of [
      [0, "left"],
      [neutral, "center"],
      [last, "right"],
    ] as const) {
      pen.textAlign = align;
      pen.fillText(names[at], x(amounts[at]), this.height - 4);
    }
    pen.textAlign = "left";
    const before = Math.floor(position);
    const beyond = amounts[Math.min(before + 1, last)] - amounts[before];
    const now = x(amounts[before] + (position - before) * beyond);
    for (const [ink, wide] of [
      [look.theme.ground, 6],
      [look.theme.accent, 2.5],
    ] as const) {
      strokeIn(pen, ink, wide);
      line(pen, now, top, now, this.height - UNDER * look.scale);
    }
  }
}
