// A signed number per primary capsule as small multiples, one tile per type, and what is known of one capsule beside it:
// where it looks on the image, what it says for every class.

import { scaleLinear } from "d3-scale";

import { paintImage, Panel, type Pen, raster } from "../core/canvas";
import { element, pointed, roomBelow, takenArrow, worked } from "../core/dom";
import { seen } from "../core/receptive-field";
import type { Look } from "../core/look";
import { counted, largest, shown } from "../core/numbers";
import { fitted, roomFor, strokeIn } from "../core/shapes";
import { keyEnds } from "./charts";
import type { MapsData } from "./data";
import type { Part, DrawState } from "./part";

const LABEL = 20; // CSS pixels above and below the tiles in ordinary type, for the names of the first and the last type

class Tiles extends Panel<DrawState> {
  left = 0;
  cell = 3;
  label = LABEL;

  constructor(private readonly number: number) {
    super();
  }

  /** As large as its place is wide, and no taller than `tallest`. */
  fit(data: MapsData, look: Look, width: number, tallest: number): void {
    const [down, across] = data.fields.shape;
    this.label = LABEL * look.scale;
    this.cell = Math.min(width / across, Math.max(3, tallest / down));
    this.left = Math.max(0, (width - across * this.cell) / 2);
    this.resize(width, down * this.cell + 2 * this.label);
  }

  protected paint(pen: Pen, { data, look, now, marked }: DrawState): void {
    const { cells, shape, maps } = data.fields;
    const [down, across] = shape;
    const { reach } = maps[this.number];
    const values = now[this.number];
    const picture = Float32Array.from(cells, (capsule) => (capsule < 0 ? NaN : values[capsule]));
    const tiles = raster(picture, across, down, look.diverging, -reach, reach);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(tiles, this.left, this.label, across * this.cell, down * this.cell);
    this.frames(pen, data, look);
    for (const [capsule, colour] of marked) {
      const at = cells.indexOf(capsule);
      if (at < 0) continue;
      const x = this.left + (at % across) * this.cell;
      const y = this.label + Math.floor(at / across) * this.cell;
      for (const [stroke, wide] of [[look.theme.ground, 6] as const, [colour, 3] as const]) {
        strokeIn(pen, stroke, wide);
        pen.strokeRect(x - 1, y - 1, this.cell + 2, this.cell + 2);
      }
    }
  }

  /** A thin frame around every tile, and the names of the first and the last type. */
  private frames(pen: Pen, { fields }: MapsData, look: Look): void {
    const [rows, columns, types] = fields.grid;
    const perLine = Math.floor((fields.shape[1] + 1) / (columns + 1));
    strokeIn(pen, look.theme.grid, 1);
    pen.fillStyle = look.theme.muted;
    pen.font = look.type(14);
    for (let kind = 0; kind < types; kind++) {
      const x = this.left + (kind % perLine) * (columns + 1) * this.cell;
      const y = this.label + Math.floor(kind / perLine) * (rows + 1) * this.cell;
      pen.strokeRect(x - 0.5, y - 0.5, columns * this.cell + 1, rows * this.cell + 1);
      // Named outwards from the tile's outer edge, where a narrow tile leaves room.
      pen.textAlign = kind ? "right" : "left";
      if (kind === 0) pen.fillText("type 0", x, y - 0.25 * this.label);
      if (kind === types - 1) {
        pen.fillText(`type ${kind}`, x + columns * this.cell, y + rows * this.cell + 0.75 * this.label);
      }
    }
    pen.textAlign = "left";
  }

  /** The capsule under the pointer, null in a gap. */
  capsule({ fields }: MapsData, event: MouseEvent): number | null {
    const [x, y] = pointed(this.canvas, event);
    const [down, across] = fields.shape;
    const column = Math.floor((x - this.left) / this.cell);
    const row = Math.floor((y - this.label) / this.cell);
    if (column < 0 || row < 0 || column >= across || row >= down) return null;
    const capsule = fields.cells[row * across + column];
    return capsule < 0 ? null : capsule;
  }
}

export class CapsuleMap implements Part {
  readonly root: HTMLElement;
  readonly tiles: Tiles;
  /** How tall the tiles may be, in CSS pixels. */
  tallest = Infinity;
  private data: MapsData | undefined;
  private readonly title = element("h3");
  private readonly note = element("p", { className: "note" });
  private readonly counts = element("p", { className: "counts" });
  private readonly low = element("span");
  private readonly high = element("span");
  private readonly bar = element("div", { className: "bar" });

  constructor(
    private readonly number: number,
    onPoint: (capsule: number | null) => void,
    onChoose: (capsule: number) => void,
    onStep: (right: number, down: number) => void,
  ) {
    const { canvas } = (this.tiles = new Tiles(number));
    const key = element("div", { className: "key" }, this.low, this.bar, this.high);
    this.root = element("figure", { className: "map" }, this.title, this.note, canvas, key, this.counts);
    const capsule = (event: MouseEvent): number | null => (this.data ? this.tiles.capsule(this.data, event) : null);
    canvas.addEventListener("pointermove", (event) => onPoint(capsule(event)));
    canvas.addEventListener("pointerleave", () => onPoint(null));
    canvas.addEventListener("click", (event) => {
      const chosen = capsule(event);
      if (chosen !== null) onChoose(chosen);
    });
    worked(canvas, !number); // maps beside one another choose the same capsule
    canvas.addEventListener("keydown", (event) => {
      const arrow = takenArrow(event); // it moves the choice, not the player
      if (arrow) onStep(arrow[0], -arrow[1]);
    });
  }

  update(data: MapsData, look: Look): void {
    this.data = data;
    const { title, note, reach, low, high } = data.fields.maps[this.number];
    this.title.textContent = title;
    this.note.textContent = note;
    const keys = this.number ? "" : " Arrow keys choose a capsule.";
    this.tiles.canvas.setAttribute("aria-label", `${title}. ${data.fields.alt}${keys}`);
    [this.low.textContent, this.high.textContent] = keyEnds(reach, low, high);
    this.bar.style.background = `linear-gradient(to right, ${look.diverging.css.join(",")})`;
  }

  draw(state: DrawState): void {
    this.tiles.fit(state.data, state.look, this.root.clientWidth, this.tallest);
    this.tiles.draw(state);
    if (state.data.fields.maps[this.number].counted) this.count(state);
  }

  private count({ data, now, look }: DrawState): void {
    const values = now[this.number];
    const part = (number: number): string =>
      data.fields.maps.length > 1 ? "" : ` (${((100 * number) / values.length).toFixed(1)} %)`;
    const square = (colour: string): HTMLElement =>
      element("span", { className: "square", style: `background:${colour}` });
    const below = values.filter((value) => value < 0).length;
    const above = values.filter((value) => value > 0).length;
    this.counts.replaceChildren(
      square(look.theme.negative),
      element("b", { textContent: ` ${counted(below)}` }),
      ` negative${part(below)}    `,
      square(look.theme.positive),
      element("b", { textContent: ` ${counted(above)}` }),
      ` positive${part(above)}`,
    );
  }
}

/** The image, and on it what a capsule sees. */
export class Sight extends Panel<DrawState> implements Part {
  readonly root: HTMLElement;
  private readonly picture = element("canvas");

  constructor() {
    super();
    this.canvas.setAttribute("aria-label", "the image, with the field that the capsule sees");
    this.root = element("figure", { className: "sight" }, element("h3", { textContent: "What it sees" }), this.canvas);
  }

  update({ fields }: MapsData): void {
    if (fields.image && fields.pixels) paintImage(this.picture, fields.image, fields.pixels);
  }

  override draw(state: DrawState): void {
    const side = Math.min(this.root.clientWidth, 190 * state.look.beyond);
    const [, rows, columns] = state.data.fields.image ?? [1, 1, 1];
    this.width = Math.min(side, (side * columns) / rows);
    this.height = (this.width * rows) / columns;
    super.draw(state);
  }

  protected paint(pen: Pen, { data, capsule }: DrawState): void {
    const { width, height } = this;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.picture, 0, 0, width, height);
    const { image, field } = data.fields;
    if (!image || !field) return;
    const unit = width / image[2];
    const [row, column] = data.place(capsule);
    const box = seen(field, image, row, column);
    const [top, left, bottom, right] = [box.top * unit, box.left * unit, box.bottom * unit, box.right * unit];
    pen.fillStyle = "rgba(0,0,0,0.55)"; // on all that it does not see
    pen.fillRect(0, 0, width, top);
    pen.fillRect(0, bottom, width, height - bottom);
    pen.fillRect(0, top, left, bottom - top);
    pen.fillRect(right, top, width - right, bottom - top);
    strokeIn(pen, "#ffb26b", 3); // on the image itself, which is dark on both pages
    pen.strokeRect(left + 1.5, top + 1.5, right - left - 3, bottom - top - 3);
  }
}

/** Classes that have a bar; of more of them those farthest from zero and the chosen one. */
const MOST_BARS = 24;

/** A capsule's number for every class, as bars to both sides of zero. */
export class ClassBars extends Panel<DrawState> implements Part {
  readonly root: HTMLElement;
  private readonly title = element("h3");
  private line = 16;
  private listed: readonly number[] = [];

  constructor() {
    super();
    this.root = element("figure", { className: "class-bars" }, this.title, this.canvas);
  }

  update({ fields }: MapsData): void {
    this.title.textContent = `Its ${fields.maps[0].symbol} for every class`;
  }

  override draw(state: DrawState): void {
    const { scale } = state.look;
    const { classes, upper } = state.data.fields;
    const values = this.values(state);
    this.listed = largest(values.map(Math.abs), MOST_BARS, upper);
    const others = classes.length - this.listed.length;
    const length = this.listed.length + (others ? 1 : 0);
    const room = (roomBelow(this.canvas) - 8) / length; // all of them on the screen, if they can be read
    this.line = scale * Math.max(16, Math.min(22, 220 / length, room / scale));
    this.resize(this.root.clientWidth, length * this.line);
    const words = this.listed.map((j) => `class ${classes[j]} ${shown(values[j])}`);
    this.canvas.setAttribute("aria-label", [...words, ...(others ? [nearer(others)] : [])].join(", "));
    super.draw(state);
  }

  private values({ data, capsule }: DrawState): number[] {
    const { classes, per_class: all = [] } = data.fields;
    return classes.map((_, j) => all[capsule * classes.length + j]);
  }

  protected paint(pen: Pen, state: DrawState): void {
    const { data, look } = state;
    const { classes, upper } = data.fields;
    const { theme } = look;
    const values = this.values(state);
    pen.font = look.type(14);
    pen.textBaseline = "middle";
    const number = 58 * look.scale;
    const { listed } = this;
    const names = listed.map((j) => classes[j]);
    const room = roomFor(pen, names, 14, look, 0.35 * this.width);
    const left = room + 10 + number;
    const reach = Math.max(...values.map(Math.abs), 0) || 1;
    const x = scaleLinear([-reach, reach], [left, this.width - number]);
    listed.forEach((j, place) => {
      const y = (place + 0.5) * this.line;
      pen.fillStyle = j === upper ? theme.text : theme.muted;
      pen.font = look.type(14, j === upper ? "bold" : "");
      pen.textAlign = "left";
      pen.fillText(fitted(pen, classes[j], room), 0, y);
      const value = values[j];
      pen.fillStyle = value < 0 ? theme.negative : theme.positive;
      pen.fillRect(Math.min(x(0), x(value)), y - this.line * 0.36, Math.abs(x(value) - x(0)), this.line * 0.72);
      pen.fillStyle = theme.text;
      pen.textAlign = value < 0 ? "right" : "left";
      pen.fillText(shown(value), x(value) + (value < 0 ? -5 : 5), y);
    });
    pen.fillStyle = theme.muted;
    pen.fillRect(x(0) - 0.5, 0, 1, listed.length * this.line);
    const others = classes.length - listed.length;
    if (!others) return;
    pen.textAlign = "left";
    pen.font = look.type(14);
    pen.fillText(fitted(pen, nearer(others), this.width), 0, (listed.length + 0.5) * this.line);
  }
}

function nearer(others: number): string {
  return others === 1 ? "1 other class is nearer to zero" : `${counted(others)} other classes are nearer to zero`;
}
