// Who gives how much to whom: all capsules × all classes, the chosen class over the grid, and over the image.

import { paintImage, type Pen, raster } from "../core/canvas";
import { element, pointed } from "../core/dom";
import { type Field, own, seen } from "../core/receptive-field";
import { counted, ends, indices, shown } from "../core/numbers";
import { barOf, cross, fitted, line, roomFor, scaleBar, strokeIn } from "../core/shapes";
import type { Run } from "./run";
import { headings, type Pick, type DrawState, BoardPanel, type Select } from "./panel";

/** What a share is measured against: the untouched run's, or the even share. */
function compared({ view, options }: DrawState): Float32Array | null {
  return options.difference ? view.baseShares : null;
}

/** Shares of every capsule, grouped by type, for every class. */
export class ShareMap extends BoardPanel {
  private run: Run | undefined;
  private order: number[] = [];
  private left = 0;
  private top = 0;
  private bottom = 0;

  constructor(
    private readonly onSelect: Select,
    private readonly onClass: (upper: number) => void,
  ) {
    super("pointable");
    this.canvas.addEventListener("click", (event) => this.click(event));
  }

  override load(run: Run): void {
    this.run = run;
    const [rows, columns, types] = run.data.grid;
    const places = rows * columns;
    this.order = indices(run.lower).map((x) => (x % places) * types + Math.floor(x / places));
  }

  fit(width: number, height: number, top: number, bottom: number): void {
    Object.assign(this, { width, height, top, bottom });
  }

  protected paint(pen: Pen, state: DrawState): void {
    const { run, view, capsule, look } = state;
    const { theme } = look;
    const J = run.upperCount;
    const base = compared(state);
    const values = new Float32Array(run.pairs);
    for (let x = 0; x < run.lower; x++) {
      for (let j = 0; j < J; j++) {
        const at = this.order[x] * J + j;
        values[j * run.lower + x] = view.shares[at] - (base ? base[at] : run.data.even[this.order[x]]);
      }
    }
    this.left = Math.max(40, 10 + roomFor(pen, run.data.classes, 13, look, 0.2 * this.width));
    const across = this.width - this.left - 4;
    const down = this.height - this.top - this.bottom;
    const row = down / J;
    pen.imageSmoothingEnabled = false;
    const picture = raster(values, run.lower, J, look.diverging, -run.reach, run.reach);
    pen.drawImage(picture, this.left, this.top, across, down);
    pen.textAlign = "right";
    // Of rows too narrow for words every so many-th is named, and the chosen one.
    const every = Math.ceil((13 * look.scale) / row);
    for (let j = 0; j < J; j++) {
      const chosen = j === run.upper;
      if (!chosen && (j % every || Math.abs(j - run.upper) < every)) continue;
      pen.fillStyle = chosen ? theme.accent : theme.muted;
      pen.font = look.type(13, chosen ? "bold" : "");
      pen.fillText(fitted(pen, run.data.classes[j], this.left - 6), this.left - 5, this.top + (j + 0.5) * row + 4.5);
    }
    strokeIn(pen, theme.accent, 2);
    pen.strokeRect(this.left, this.top + run.upper * row, across, row);
    const x = this.left + ((this.order.indexOf(capsule) + 0.5) * across) / run.lower;
    line(pen, x, this.top - 3, x, this.top + down + 3);
    pen.textAlign = "left";
    pen.font = look.type(13);
    pen.fillStyle = theme.muted;
    const types = run.data.grid[2];
    const fit = Math.floor(across / (pen.measureText(`type ${types - 1}`).width + 10));
    for (let kind = 0; kind < types; kind += Math.max(1, Math.ceil(types / Math.max(1, Math.min(8, fit))))) {
      const [name, x] = [`type ${kind}`, this.left + (kind * across) / types];
      if (x + pen.measureText(name).width <= this.width) pen.fillText(name, x, this.height - 5);
    }
    this.title(pen, state, values);
  }

  private title(pen: Pen, state: DrawState, values: Float32Array): void {
    const { run, view, look } = state;
    const { reach } = run;
    const { share_names: names } = run.data;
    const base = compared(state);
    const name = names[view.shareStep];
    const all = `${name} of all ${counted(run.lower)} capsules`;
    const whole = base
      ? [`${name}: difference to the untouched run`]
      : run.alike
        ? [all]
        : [`${all}, less an even share`, `${name} less an even share`];
    const { under } = headings(look);
    const own = this.top > under; // a line of its own for the scale
    this.heading(pen, look, [...whole, name], this.left, this.width - this.left - (own ? 0 : 270));
    // A share is never below 0: the bar begins there, at the colour that a share of 0 has.
    const [middle, least] = base || !run.alike ? [0, -reach] : [run.data.even[0], Math.max(-reach, -run.data.even[0])];
    const colours = look.diverging.css.slice(look.diverging.at(least, -reach, reach));
    const [below, above] = [values.some((value) => value < least - 1e-6), values.some((value) => value > reach + 1e-6)];
    const low = (below ? "≤ " : "") + shown(middle + least, 3);
    const high = (above ? "≥ " : "") + shown(middle + reach, 3);
    scaleBar(pen, this.width - 4, 5 + this.top - (own ? under : this.top), colours, [low, high], look);
  }

  private click(event: MouseEvent): void {
    const { run } = this;
    if (!run) return;
    const [x, y] = pointed(this.canvas, event);
    const across = this.width - this.left - 4;
    const j = Math.floor(((y - this.top) / (this.height - this.top - this.bottom)) * run.upperCount);
    if (j < 0 || j >= run.upperCount) return;
    if (x < this.left) {
      this.onClass(j);
      return;
    }
    const place = Math.min(run.lower - 1, Math.floor(((x - this.left) / across) * run.lower));
    this.onSelect(this.order[place], event.shiftKey);
  }
}

const LEAST = 3; // CSS pixels of a cell

/** The chosen class's shares in the geometry of the primary capsules: one tile of rows × columns per type. */
export class Tiles extends BoardPanel {
  private run: Run | undefined;
  private across = 1;
  private cell = LEAST;
  private top = 0;

  constructor(onSelect: Select, onPick: Pick) {
    super("pointable");
    this.canvas.addEventListener("click", (event) => this.hit(event, (i) => onSelect(i, event.shiftKey)));
    this.canvas.addEventListener("dblclick", (event) => {
      this.hit(event, (i, run) => onPick(run.ofType(i), event.shiftKey));
    });
  }

  override load(run: Run): void {
    this.run = run;
  }

  /**
   * As many tiles a line as there is room for cells that can be hit; tiles that are too wide alone, or together higher
   * than so many pixels, have smaller ones.
   */
  fit(width: number, top: number, tallest = Infinity): void {
    const [rows, columns, types] = this.run?.data.grid ?? [1, 1, 1];
    const place = Math.max(1, width - 8);
    const most = Math.max(1, Math.floor(place / (LEAST * (columns + 1))));
    this.across = Math.min(types, Math.ceil(Math.sqrt(2 * types)), most);
    const down = Math.ceil(types / this.across) * (rows + 1);
    const room = Math.min(place / (this.across * (columns + 1)), tallest / down);
    this.cell = room < LEAST ? room : Math.floor(room);
    const height = down * this.cell + top;
    Object.assign(this, { width, top, height });
  }

  protected paint(pen: Pen, state: DrawState): void {
    const { run, view, capsule, picked, look } = state;
    const { cell } = this;
    const { reach } = run;
    const { classes, gains, symbol, grid } = run.data;
    const base = compared(state);
    const gap = cell < LEAST ? 0 : 0.5;
    for (let i = 0; i < run.lower; i++) {
      const [x, y] = this.spot(run, i);
      const at = i * run.upperCount + run.upper;
      pen.fillStyle = look.diverging.of(view.shares[at] - (base ? base[at] : run.data.even[i]), -reach, reach);
      pen.fillRect(x, y, cell - gap, cell - gap);
      if (gains[i] === 0) cross(pen, x, y, cell - gap, look.theme.muted);
    }
    strokeIn(pen, look.theme.text, 2);
    for (const i of picked) pen.strokeRect(...this.spot(run, i), cell - 0.5, cell - 0.5);
    strokeIn(pen, look.theme.accent, 3);
    const [x, y] = this.spot(run, capsule);
    pen.strokeRect(x - 1.5, y - 1.5, cell + 2.5, cell + 2.5);
    const [rows, columns, types] = grid;
    const title = `${symbol} to ${classes[run.upper]}`;
    const than = base ? ", less the untouched" : run.alike ? "" : ", less an even share";
    const named = `${title}${than}`;
    this.heading(pen, look, [`${named}, ${rows} × ${columns} × ${types} types`, named, `${symbol}${than}`, symbol]);
  }

  private spot(run: Run, i: number): [number, number] {
    const [row, column, kind] = run.place(i);
    const [rows, columns] = run.data.grid;
    return [
      ((kind % this.across) * (columns + 1) + column) * this.cell,
      this.top + (Math.floor(kind / this.across) * (rows + 1) + row) * this.cell,
    ];
  }

  private hit(event: MouseEvent, act: (capsule: number, run: Run) => void): void {
    const { run, cell } = this;
    if (!run) return;
    const [x, y] = pointed(this.canvas, event);
    const [rows, columns, types] = run.data.grid;
    const [across, down] = [Math.floor(x / cell), Math.floor((y - this.top) / cell)];
    const [tileX, tileY] = [Math.floor(across / (columns + 1)), Math.floor(down / (rows + 1))];
    const [column, row] = [across - tileX * (columns + 1), down - tileY * (rows + 1)];
    const kind = tileY * this.across + tileX;
    if (across < 0 || down < 0 || tileX >= this.across || column >= columns || row >= rows || kind >= types) return;
    act((row * columns + column) * types + kind, run);
  }
}

/** The image, how much each place of it gives to the chosen class, and what the selected capsule sees of it. */
export class Retina extends BoardPanel {
  private readonly picture = element("canvas");
  private shape: readonly [number, number, number] = [1, 1, 1];
  private farthest: readonly number[] = []; // by T
  private top = 0;
  private foot = 0;

  override load(run: Run): void {
    this.shape = run.data.image_shape;
    paintImage(this.picture, this.shape, run.data.image);
    // The same colours in every iteration and for every class, so that one can be compared with another.
    let farthest = 1e-4;
    this.farthest = indices(run.data.iterations).map((t) => {
      const shares = run.part(run.data.shares, t, run.pairs);
      for (let j = 0; j < run.upperCount; j++) {
        for (const mean of means(run, shares, j)) farthest = Math.max(farthest, Math.abs(mean - run.data.even[0]));
      }
      return farthest;
    });
  }

  /** In a square of so many pixels. */
  fit(side: number, top: number, foot: number): void {
    const [, rows, columns] = this.shape;
    const width = Math.min(side, (side * columns) / rows);
    Object.assign(this, { width, top, foot, height: (width * rows) / columns + top + foot });
  }

  protected paint(pen: Pen, state: DrawState): void {
    const { run, capsule, look, options } = state;
    const { field, symbol, classes } = run.data;
    const unit = this.width / this.shape[2];
    const mass = options.mass && field !== null;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.picture, 0, this.top, this.width, this.height - this.top - this.foot);
    const mean = `Mean ${symbol}`;
    const titles = mass
      ? [`${mean} to ${classes[run.upper]}, by place`, `${mean}, by place`, `${mean} to ${classes[run.upper]}`, mean]
      : ["The image", "Image"];
    this.heading(pen, look, titles);
    if (!field) return;
    if (mass) this.heat(pen, state, field, unit);
    const [row, column] = run.place(capsule);
    const { top, left, bottom, right } = seen(field, this.shape, row, column);
    strokeIn(pen, "#ff9628", 3); // on the image itself, which is dark on both pages
    pen.strokeRect(
      left * unit + 1.5,
      this.top + top * unit + 1.5,
      (right - left) * unit - 3,
      (bottom - top) * unit - 3,
    );
  }

  private heat(pen: Pen, { run, view, look }: DrawState, field: Field, unit: number): void {
    const farthest = this.farthest[run.iterations - 1];
    const even = run.data.even[0]; // the same for all where the capsules below are the primary ones
    const columns = run.data.grid[1];
    means(run, view.shares, run.upper).forEach((mean, p) => {
      pen.fillStyle = warmth((mean - even) / farthest);
      const { top, left, bottom, right } = own(field, this.shape, Math.floor(p / columns), p % columns);
      pen.fillRect(left * unit, this.top + top * unit, (right - left) * unit - 1, (bottom - top) * unit - 1);
    });
    const least = Math.max(0, even - farthest);
    const most = even + farthest;
    const colours = indices(64).map((k) => warmth((least + ((most - least) * k) / 63 - even) / farthest));
    const written = ends(least, most);
    pen.font = look.type(13);
    const words = written.reduce((sum, word) => sum + pen.measureText(word).width, 0);
    const y = this.height - 2 - barOf(look).baseline;
    const wide = Math.round(this.width - words - 14);
    if (wide >= LEAST) scaleBar(pen, this.width, y, colours, written, look, wide);
  }
}

/** Mean share of each place for a class. */
function means(run: Run, shares: Float32Array, upper: number): Float32Array {
  const [rows, columns, types] = run.data.grid;
  const found = new Float32Array(rows * columns);
  for (let i = 0; i < run.lower; i++) found[Math.floor(i / types)] += shares[i * run.upperCount + upper] / types;
  return found;
}

/** Less than the even share blue, more orange, the even share clear; share: −1..1 of the farthest. */
function warmth(share: number): string {
  return share < 0 ? `rgba(70,160,255,${(-0.85 * share).toFixed(3)})` : `rgba(255,150,40,${(0.85 * share).toFixed(3)})`;
}
