// The pictures of a sweep: a row of its images, the activations of a method, and numbers as rows of colours.

import { minIndex } from "d3-array";
import { scaleLinear } from "d3-scale";
import { line as path } from "d3-shape";

import { paintImage, Panel, type Pen, raster } from "../core/canvas";
import type { ColourTable } from "../core/colours";
import { element, pointed } from "../core/dom";
import type { Look } from "../core/look";
import { ends, indices } from "../core/numbers";
import { line, scaleBar, strokeIn } from "../core/shapes";
import { AmountsPanel, type Scene, UNDER } from "./axis";

const LABEL = 20; // CSS pixels below an image of the row, in ordinary type
const LEAST = 68; // CSS pixels that an image of the row takes, in ordinary type
const GAP = 6;

/** A row of images, evenly spread over the amounts, the one on stage among them; pointing goes to one. */
export class ImageRow extends Panel<Scene> {
  private places: number[] = [];
  private painted: number[] = [];
  private side = 0;

  constructor(go: (frame: number) => void) {
    super();
    this.canvas.addEventListener("click", (event) => {
      const place = Math.floor(pointed(this.canvas, event)[0] / (this.side + GAP));
      if (this.painted.length) go(this.painted[Math.min(place, this.painted.length - 1)]);
    });
  }

  fit(width: number, { data: { amounts, neutral }, look }: Scene): void {
    const last = amounts.length - 1;
    const count = Math.max(3, Math.min(13, amounts.length, Math.floor((width + GAP) / (LEAST * look.scale + GAP))));
    const spread = indices(count).map((k) => amounts[0] + (k / (count - 1)) * (amounts[last] - amounts[0]));
    this.places = spread.map((amount) => minIndex(amounts, (each) => Math.abs(each - amount)));
    // The image as it is stands in the row, in the place of the one that is nearest to it.
    this.places[minIndex(this.places, (each) => Math.abs(each - neutral))] = neutral;
    this.side = (width - (count - 1) * GAP) / count;
    this.resize(width, this.side + LABEL * look.scale);
  }

  protected paint(pen: Pen, { data, look, position }: Scene): void {
    const { side } = this;
    const size = data.images.length / data.amounts.length;
    const nearest = minIndex(this.places, (place) => Math.abs(place - position));
    const canvas = element("canvas");
    const [, down, across] = data.shape;
    const [wide, tall] = [across, down].map((pixels) => (side * pixels) / Math.max(down, across));
    pen.imageSmoothingEnabled = false;
    pen.textAlign = "center";
    this.painted = this.places.map((usual, k) => (k === nearest ? Math.round(position) : usual));
    this.painted.forEach((place, k) => {
      const x = k * (side + GAP);
      paintImage(canvas, data.shape, data.images.subarray(place * size, (place + 1) * size));
      pen.drawImage(canvas, x + (side - wide) / 2, (side - tall) / 2, wide, tall);
      if (k === nearest) {
        strokeIn(pen, look.theme.accent, 3);
        pen.strokeRect(x + 1.5, 1.5, side - 3, side - 3);
      }
      pen.font = look.type(13, k === nearest ? "bold" : "");
      pen.fillStyle = place === data.neutral || k === nearest ? look.theme.text : look.theme.muted;
      pen.fillText(data.names[place], x + side / 2, this.height - 4);
    });
    pen.textAlign = "left";
  }
}

/** How active the shown class is for one method, and the strongest other; grey where that one wins. */
export class Activations extends AmountsPanel {
  protected left(look: Look): number {
    return 16 * look.scale;
  }

  protected paint(pen: Pen, scene: Scene): void {
    const { data, look } = scene;
    const { theme } = look;
    const { colour, lost } = data.methods[this.number];
    const x = this.x(scene);
    const floor = this.height - UNDER * look.scale;
    const y = scaleLinear([0, 1], [floor - 2, 8 * look.scale]);
    const { amounts } = data;
    pen.fillStyle = theme.grid;
    lost.forEach((gone, at) => {
      if (!gone) return;
      const [from, to] = [at - 1, at + 1].map((next) => x((amounts[at] + (amounts[next] ?? amounts[at])) / 2));
      pen.fillRect(Math.floor(from), 0, Math.ceil(to) - Math.floor(from), floor);
    });
    pen.font = look.type(13);
    pen.textBaseline = "middle";
    pen.lineWidth = 1;
    for (const tick of [0, 1]) {
      pen.strokeStyle = theme.muted;
      line(pen, this.left(look), y(tick), this.width, y(tick));
      pen.fillStyle = theme.muted;
      pen.fillText(String(tick), 0, y(tick));
    }
    pen.textBaseline = "alphabetic";
    const draw = (values: Float32Array, ink: string, dash: number[]): void => {
      strokeIn(pen, ink, dash.length ? 2 : 3);
      pen.setLineDash(dash);
      pen.beginPath();
      path<number>((_, at) => x(amounts[at]), y).context(pen)(values);
      pen.stroke();
      pen.setLineDash([]);
    };
    draw(data[`other${this.number}`], theme.text, [4, 4]);
    draw(data[`own${this.number}`], colour, []);
    this.axis(pen, scene);
  }
}

/** Numbers along the amounts, a row each: blue below zero, orange above, on one scale. */
export class Numbers extends AmountsPanel {
  private made:
    { readonly of: Float32Array; readonly table: ColourTable; readonly columns: HTMLCanvasElement[] } | undefined;

  protected left(look: Look): number {
    return 40 * look.scale;
  }

  protected paint(pen: Pen, scene: Scene): void {
    const { data, look } = scene;
    const { rows, reach } = data.panels[this.number];
    const top = 20 * look.scale;
    const floor = this.height - UNDER * look.scale;
    const values = data[`numbers${this.number}`];
    const count = data.amounts.length;
    const x = this.x(scene);
    const high = (floor - top) / rows.length;
    const columns = this.columns(values, count, rows.length, reach, look.diverging);
    pen.imageSmoothingEnabled = false;
    // Each column from half way to the amount before to half way to the next.
    data.amounts.forEach((amount, at) => {
      const [from, to] = [at - 1, at + 1].map((next) => x((amount + (data.amounts[next] ?? amount)) / 2));
      pen.drawImage(columns[at], from, top, to - from, floor - top);
    });
    pen.font = look.type(13);
    pen.fillStyle = look.theme.muted;
    pen.textAlign = "right";
    const every = Math.ceil((17 * look.scale) / high);
    rows.forEach((row, k) => {
      if (k % every === 0) pen.fillText(String(row), this.left(look) - 5, top + (k + 0.5) * high + 4 * look.scale);
    });
    pen.textAlign = "left";
    scaleBar(pen, this.width, 2, look.diverging.css, ends(-reach, reach), look);
    this.axis(pen, scene, top);
  }

  /** The numbers of each amount as a picture of its own: SVG would mix the rows of one that holds them all. */
  private columns(
    values: Float32Array,
    count: number,
    rows: number,
    reach: number,
    table: ColourTable,
  ): HTMLCanvasElement[] {
    if (this.made?.of !== values || this.made.table !== table) {
      const columns = indices(count).map((at) => {
        const column = Float32Array.from({ length: rows }, (_, row) => values[row * count + at]);
        return raster(column, 1, rows, table, -reach, reach);
      });
      this.made = { of: values, table, columns };
    }
    return this.made.columns;
  }
}
