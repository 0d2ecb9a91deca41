// One recorded routing, read line by line: what is known after each line of each iteration.

import type { Shape } from "../core/canvas";
import type { Theme } from "../core/colours";
import type { Field } from "../core/receptive-field";
import { indices, shown } from "../core/numbers";

/** A line of the algorithm, as capsviz/boards/routing.py has it. */
export interface Line {
  /** In HTML. */
  readonly math: string;
  /** What it does, in a sentence; in the first and in the last iteration perhaps another one. */
  readonly says: string;
  readonly says_first: string | null;
  readonly says_last: string | null;
  /** Numbers of a capsule and the chosen class: what is written before each, and with how many decimals. */
  readonly numbers: readonly { readonly text: string; readonly decimals: number; readonly following: boolean }[];
}

/** A vector that is drawn from the origin, from a line of each iteration on until another one is known. */
interface Tip {
  readonly name: string;
  readonly array: string;
  readonly since: number;
}

/** What capsviz/boards/routing.py packs of a routing: its doc says what each field and array is. */
export interface Routing {
  readonly classes: readonly string[];
  readonly kind: string;
  readonly upper: number;
  /** How many the arrays hold. */
  readonly iterations: number;
  /** Whether the first of them are a routing of so many. */
  readonly shorter: boolean;
  readonly grid: readonly [rows: number, columns: number, types: number];
  /** Of a window onto a layer, the capsules' numbers in the layer, and how many columns that has. */
  readonly below?: { readonly numbers: readonly number[]; readonly columns: number } | null;
  readonly image_shape: Shape;
  readonly field: Field | null;
  readonly explained: readonly number[];
  readonly lines: readonly Line[];
  readonly symbol: string;
  readonly share_names: readonly string[];
  /** By array, the line of an iteration after which its entry is known; −1: the last line of the iteration before. */
  readonly since: Readonly<Record<string, number>>;
  readonly tips: readonly Tip[];
  /** titles: from the longest to the shortest. */
  readonly bars: { readonly titles: readonly string[]; readonly whole: boolean };
  readonly cloud: { readonly note: string; readonly point: number; readonly far: number; readonly fenced: boolean };
  readonly theme: Theme;
  /** By T, how far from an even share the farthest colour is. */
  readonly reaches: readonly number[];
  readonly image: Float32Array;
  readonly presence: Float32Array;
  readonly gains: Float32Array;
  /** What each capsule gives when it gives to all alike. */
  readonly even: Float32Array;
  readonly votes: Float32Array;
  readonly vote_lengths: Float32Array;
  readonly poses: Float32Array;
  readonly places: Float32Array;
  readonly heads: Float32Array;
  readonly origin: Float32Array;
  readonly lengths: Float32Array;
  readonly shares: Float32Array;
  readonly base_shares?: Float32Array;
  readonly base_lengths?: Float32Array;
  /** Where votes agree with what they made: its farthest colour, by T, is of `agreement_reaches`. */
  readonly agreement?: Float32Array;
  readonly agreement_reaches?: readonly number[];
  /** Where upper capsules are Gaussians. */
  readonly covariances?: Float32Array;
  readonly variances?: Float32Array;
  readonly cost?: Float32Array;
  readonly temperature?: Float32Array;
  readonly beta_a?: Float32Array;
}

/** What is on screen after a line, or on the way from one line to the next; null where nothing is known yet. */
export interface View {
  readonly frame: number;
  readonly t: number;
  readonly line: number;
  /** Of which iteration the shares are. */
  readonly shareStep: number;
  readonly shares: Float32Array;
  readonly baseShares: Float32Array | null;
  readonly lengths: Float32Array | null;
  readonly baseLengths: Float32Array | null;
  readonly agreement: Float32Array | null;
  readonly covariance: Float32Array | null;
  readonly tip: Float32Array | null;
  readonly tipName: string;
}

const GLIDING = ["shares", "baseShares", "lengths", "baseLengths", "agreement", "covariance", "tip"] as const;

export class Run {
  /** How many upper and lower capsules there are, how many pairs of them, how many numbers a pose has. */
  readonly upperCount: number;
  readonly lower: number;
  readonly pairs: number;
  readonly dim: number;
  /** Whether an even share is the same for all: not in a convolutional layer. */
  readonly alike: boolean;
  /** T: so many of the iterations that there are. */
  private rounds: number;

  constructor(readonly data: Routing) {
    this.rounds = data.iterations;
    this.upperCount = data.classes.length;
    this.lower = data.presence.length;
    this.pairs = this.lower * this.upperCount;
    this.dim = data.poses.length / data.iterations;
    this.alike = data.even.every((share) => share === data.even[0]);
  }

  get iterations(): number {
    return this.rounds;
  }

  set iterations(rounds: number) {
    this.rounds = Math.max(1, Math.min(this.data.iterations, rounds));
  }

  /** How many frames. */
  get count(): number {
    return this.iterations * this.data.lines.length;
  }

  /** The ends of the scales: of shares about the even one, of the agreement, of what the bars show. */
  get reach(): number {
    return this.data.reaches[this.iterations - 1];
  }

  get agreementReach(): number | undefined {
    return this.data.agreement_reaches?.[this.iterations - 1];
  }

  get top(): number {
    const { bars, lengths, base_lengths: untouched = [] } = this.data;
    const count = this.iterations * this.upperCount;
    return bars.whole ? 1 : Math.max(0.05, ...lengths.slice(0, count), ...untouched.slice(0, count));
  }

  /** The chosen class. */
  get upper(): number {
    return this.data.upper;
  }

  /** Row, column and type of a capsule on the board. */
  place(capsule: number): [row: number, column: number, kind: number] {
    return this.placeOf(capsule, this.data.grid[1]);
  }

  /** The number of a capsule in the network, of whose layer the board may show a window. */
  number(capsule: number): number {
    return this.data.below?.numbers[capsule] ?? capsule;
  }

  /** Row, column and type of a capsule in the network. */
  networkPlace(capsule: number): [row: number, column: number, kind: number] {
    return this.placeOf(this.number(capsule), this.data.below?.columns ?? this.data.grid[1]);
  }

  label(capsule: number): string {
    const [row, column, kind] = this.networkPlace(capsule);
    return `capsule ${this.number(capsule)} · row ${row} column ${column} · type ${kind}`;
  }

  private placeOf(number: number, columns: number): [row: number, column: number, kind: number] {
    const types = this.data.grid[2],
      position = Math.floor(number / types);
    return [Math.floor(position / columns), position % columns, number % types];
  }

  /** All capsules of the type of one. */
  ofType(capsule: number): number[] {
    const [rows, columns, types] = this.data.grid;
    return indices(rows * columns).map((position) => position * types + (capsule % types));
  }

  iteration(frame: number): number {
    return Math.floor(frame / this.data.lines.length);
  }

  line(frame: number): number {
    return frame % this.data.lines.length;
  }

  name(frame: number): string {
    const { iterations } = this;
    const { lines } = this.data;
    return `iteration ${this.iteration(frame) + 1} of ${iterations} · line ${this.line(frame) + 1} of ${lines.length}`;
  }

  part(array: Float32Array, at: number, size: number): Float32Array {
    return array.subarray(at * size, (at + 1) * size);
  }

  /** The numbers of the vote of a capsule for the chosen class, and where it lies in space. */
  vote(capsule: number): Float32Array {
    return this.part(this.data.votes, capsule, this.dim);
  }

  spot(capsule: number): Float32Array {
    return this.part(this.data.places, capsule, 3);
  }

  share(t: number, capsule: number, upper: number): number {
    return this.data.shares[t * this.pairs + capsule * this.upperCount + upper];
  }

  /** Which iteration's entry of an array is known after a line of an iteration; −1 for none. */
  known(array: string, frame: number): number {
    const since = this.data.since[array] ?? 0;
    return Math.min(this.iterations - 1, Math.floor((frame - since) / this.data.lines.length));
  }

  /** Of which iteration what came out is known after a line; −1 for none. */
  answered(frame: number): number {
    const { tips, lines } = this.data;
    return Math.floor((frame - tips[tips.length - 1].since) / lines.length);
  }

  private entry(array: Float32Array | undefined, name: string, frame: number, size: number): Float32Array | null {
    const t = this.known(name, frame);
    return array && t >= 0 ? this.part(array, t, size) : null;
  }

  /** What is on screen after a line. */
  state(frame: number): View {
    const { data, pairs, upperCount } = this;
    const shareStep = this.known("shares", frame);
    const tip = this.tipAt(frame);
    return {
      frame,
      t: this.iteration(frame),
      line: this.line(frame),
      shareStep,
      shares: this.part(data.shares, shareStep, pairs),
      baseShares: this.entry(data.base_shares, "shares", frame, pairs),
      lengths: this.entry(data.lengths, "lengths", frame, upperCount),
      baseLengths: this.entry(data.base_lengths, "lengths", frame, upperCount),
      agreement: this.entry(data.agreement, "agreement", frame, pairs),
      covariance: this.entry(data.covariances, "covariances", frame, 9),
      tip: tip && this.part(this.array(tip.array), tip.t, 3),
      tipName: tip ? tip.name : "",
    };
  }

  /** The vector that is drawn after a line: the latest that is known. */
  private tipAt(frame: number): { name: string; array: string; t: number } | null {
    const lines = this.data.lines.length;
    const found = this.data.tips
      .map((tip) => ({ ...tip, t: Math.floor((frame - tip.since) / lines) }))
      .filter(({ t }) => t >= 0)
      .sort((a, b) => b.t * lines + b.since - (a.t * lines + a.since));
    return found.at(0) ?? null;
  }

  private array(name: string): Float32Array {
    return (this.data as unknown as Record<string, Float32Array>)[name];
  }

  /** The picture at a position between two frames: every number on its straight way from one to the other. */
  view(position: number): View {
    const from = Math.floor(position);
    const share = position - from;
    const a = this.state(from);
    if (share < 1e-6) return a;
    const b = this.state(from + 1);
    const mixed: Partial<Record<(typeof GLIDING)[number], Float32Array>> = {};
    for (const name of GLIDING) {
      const x = a[name] ?? (name === "tip" ? this.data.origin : null);
      const y = b[name];
      if (!y || x === y) continue;
      mixed[name] = y.map((value, k) => (x ? x[k] + share * (value - x[k]) : share * value));
    }
    return { ...(share < 0.5 ? a : b), ...mixed };
  }

  /** What a line says of a capsule and the chosen class in an iteration. */
  written(number: number, t: number, capsule: number): string {
    const { iterations, lines } = this.data;
    return lines[number].numbers
      .map(({ text, decimals, following }, k) => {
        const at = following ? t + 1 : t;
        if (at >= this.iterations) return "";
        const values = this.array(`line${number}.${k}`);
        const value = values.length === iterations ? values[at] : values[at * this.lower + capsule];
        return Number.isNaN(value) ? "" : text + shown(value, decimals);
      })
      .join("");
  }

  says(number: number, t: number): string {
    const { says, says_first, says_last } = this.data.lines[number];
    if (t === 0 && says_first !== null) return says_first;
    return t === this.iterations - 1 && says_last !== null ? says_last : says;
  }

  /** The capsule that gives the chosen class the most when all is done. */
  strongest(): number {
    const last = this.iterations - 1;
    const gives = (i: number): number => this.share(last, i, this.upper) * this.data.presence[i];
    return indices(this.lower).reduce((best, i) => (gives(i) > gives(best) ? i : best), 0);
  }

  /** The capsule to look at: the chosen one, the strongest where it is none of these. */
  selected(chosen: number | null): number {
    return chosen !== null && chosen < this.lower ? chosen : this.strongest();
  }
}
