// Small charts over the frames, each with the place of the frame that is shown, and the histogram of the first
// map at that frame.

import { extent } from "d3-array";
import { scaleLinear } from "d3-scale";
import { line as path } from "d3-shape";

import { Panel, type Pen } from "../core/canvas";
import { element } from "../core/dom";
import type { Look } from "../core/look";
import { counted, indices, shown } from "../core/numbers";
import { ScrubbedPanel } from "../core/scrubbed";
import { line, strokeIn } from "../core/shapes";
import type { MapsData } from "./data";
import type { Part, DrawState } from "./part";

const LOWEST = 44; // heights in CSS pixels, of charts in ordinary type
const CHART = 78;
const SPREAD = 96;
const EDGE = 3;
const AIR = 0.06; // of a chart's height, beyond its lines where they leave zero
const TYPE = 13; // of the numbers at its ends
const NUMBER = 56; // pixels beside it for these, in ordinary type
const BINS = 61; // odd: the middle one is zero

export class LineChart extends ScrubbedPanel<DrawState> implements Part {
  readonly root: HTMLElement;
  private readonly words = element("figcaption");
  private values: HTMLElement[] = [];
  private ends: [number, number] = [0, 1];
  private tall = CHART;

  constructor(
    private readonly number: number,
    go: (frame: number) => void,
  ) {
    super(go);
    this.root = element("figure", { className: "chart" }, this.words, this.canvas);
  }

  /**
   * As high as leaves the words their place in so many pixels; where that is too little one has to scroll. Whether it
   * is enough.
   */
  within(pixels: number, { scale, beyond }: Look): boolean {
    const tall = Math.floor(pixels - this.words.offsetHeight);
    const enough = tall >= LOWEST * scale;
    this.tall = enough ? Math.min(tall, CHART * scale) : CHART * beyond;
    return enough;
  }

  private lines(data: MapsData): Float32Array[] {
    return data.fields.curves[this.number].lines.map((_, line) => data.curve(this.number, line));
  }

  update(data: MapsData): void {
    const { title, lines, percent } = data.fields.curves[this.number];
    const all = this.lines(data).flatMap((values) => [...values].filter(Number.isFinite));
    const [low = 0, high = 0] = extent(all);
    this.ends = extent([0, ...all]) as [number, number]; // with zero, lest little looks like much
    const range = `from ${written(low, percent)} to ${written(high, percent)}`;
    this.canvas.setAttribute("aria-label", `${title} over ${data.fields.frames.length} frames, ${range}`);
    this.values = lines.map(() => element("b"));
    const keys = lines.map(({ name, colour }, k) => {
      const square = element("i", { className: "square", style: `background:${colour}` });
      return element("span", {}, square, ` ${name} `, this.values[k]);
    });
    this.words.replaceChildren(element("strong", { textContent: title }), ...keys);
  }

  /** Where the lines end, and the numbers of the ends begin. */
  private right(look: Look): number {
    return this.width - NUMBER * look.scale;
  }

  /** Where on the canvas a position lies. */
  private x({ data, look }: DrawState): (position: number) => number {
    const [first = 0, last = 0] = extent(data.fields.steps);
    const scale = scaleLinear([first, last], [EDGE, this.right(look) - EDGE]);
    return (position) => scale(data.step(position));
  }

  protected places(state: DrawState): number[] {
    return indices(state.data.fields.frames.length).map(this.x(state));
  }

  override draw(state: DrawState): void {
    this.resize(this.root.clientWidth, this.tall);
    super.draw(state);
    const { percent } = state.data.fields.curves[this.number];
    this.lines(state.data).forEach((values, k) => {
      this.values[k].textContent = written(values[Math.round(state.position)], percent);
    });
  }

  protected paint(pen: Pen, state: DrawState): void {
    const { data, look, position } = state;
    const { theme } = look;
    const { height } = this;
    const { percent } = data.fields.curves[this.number];
    const [low, high] = this.ends;
    const air = AIR * (high - low || 1);
    const y = scaleLinear([low && low - air, high || !low ? high + air : 0], [height - EDGE, EDGE]);
    const right = this.right(look);
    const x = this.x(state);
    pen.font = look.type(TYPE);
    pen.fillStyle = theme.muted;
    this.ends.forEach((end, k) => {
      pen.textBaseline = k ? "top" : "bottom";
      pen.fillText(written(end, percent), right + 5, k ? 1 : height - 1);
    });
    strokeIn(pen, theme.grid, 1);
    pen.strokeRect(0.5, 0.5, right - 1, height - 1);
    if (low < 0 && high > 0) {
      pen.strokeStyle = theme.muted;
      pen.setLineDash([4, 4]);
      line(pen, 0, y(0), right, y(0));
      pen.setLineDash([]);
    }
    const draw = path<number>((_, frame) => x(frame), y)
      .defined(Number.isFinite)
      .context(pen);
    this.lines(data).forEach((values, k) => {
      strokeIn(pen, data.fields.curves[this.number].lines[k].colour, 2.5);
      pen.beginPath();
      draw(values);
      pen.stroke();
    });
    strokeIn(pen, theme.accent, 2);
    line(pen, x(position), 0, x(position), height);
  }
}

export function written(value: number, percent: boolean): string {
  if (percent && value > 0 && value < 5e-5) return "< 0.01 %";
  if (percent && value < 1 && value >= 0.99995) return "> 99.99 %";
  const close = (value > 0 && value < 0.0995) || (value >= 0.9995 && value < 1); // to none or to all of them
  if (percent) return `${(100 * value).toFixed(close ? 2 : 1)} %`;
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(1).replace("e+", "e").replace("-", "−"); // in the room beside a chart
  return size >= 100 ? counted(value) : shown(value, size >= 10 ? 1 : 3);
}

/** The ends −reach and reach of a key, and whether some of the numbers lie beyond. */
export function keyEnds(reach: number, low: number, high: number): [low: string, high: string] {
  const decimals = reach >= 0.01 ? 2 : 4;
  return [(low < -reach ? "≤ " : "") + shown(-reach, decimals), (high > reach ? "≥ " : "") + shown(reach, decimals)];
}

/** How the first map's numbers are spread at the frame that is shown. */
export class Histogram extends Panel<DrawState> implements Part {
  readonly root: HTMLElement;
  private readonly words = element("figcaption");
  private far = 1;
  private ends: [low: string, high: string] = ["", ""];

  constructor() {
    super();
    this.root = element("figure", { className: "chart" }, this.words, this.canvas);
  }

  update({ fields }: MapsData): void {
    const { symbol, reach, low, high } = fields.maps[0];
    this.far = Math.min(1.6 * reach, Math.max(Math.abs(low), Math.abs(high))) || 1;
    this.ends = keyEnds(this.far, low, high); // the bars there count what lies beyond as well
    this.words.replaceChildren(element("strong", { textContent: `How ${symbol} is spread` }));
    this.canvas.setAttribute("aria-label", `histogram of ${symbol} from ${this.ends.join(" to ")}`);
  }

  override draw(state: DrawState): void {
    this.resize(this.root.clientWidth, SPREAD * state.look.beyond);
    super.draw(state);
  }

  protected paint(pen: Pen, { look, now }: DrawState): void {
    const { theme } = look;
    const { width } = this;
    const floor = this.height - 18 * look.scale;
    const counts = binned(now[0], this.far);
    const most = Math.max(...counts);
    const middle = (BINS - 1) / 2;
    counts.forEach((count, bin) => {
      const high = (count / most) * (floor - 2);
      pen.fillStyle = bin < middle ? theme.negative : bin > middle ? theme.positive : theme.muted;
      pen.fillRect((bin * width) / BINS, floor - high, width / BINS - 1, high);
    });
    pen.fillStyle = theme.muted;
    pen.fillRect(0, floor, width, 1);
    pen.font = look.type(14);
    const [low, high] = this.ends;
    const words = [
      ["left", 0, low],
      ["center", 0.5, "0"],
      ["right", 1, high],
    ] as const;
    for (const [align, share, text] of words) {
      pen.textAlign = align;
      pen.fillText(text, share * width, this.height - 3);
    }
    pen.textAlign = "left";
  }
}

/** How many numbers fall into each bin from −far to far; what lies beyond the ends counts there. */
function binned(values: Float32Array, far: number): number[] {
  const counts = new Array<number>(BINS).fill(0);
  for (const value of values) {
    const bin = Math.round(((value / far + 1) / 2) * (BINS - 1));
    counts[Math.max(0, Math.min(BINS - 1, bin))]++;
  }
  return counts;
}
