// Canvases that are sharp on every screen, and panels: pictures that are drawn again wherever they are asked for.

import { rgb } from "d3-color";

import type { ColourTable } from "./colours";
import { element, ofOneFinger } from "./dom";
import { drawIn } from "./sight";

export type Pen = CanvasRenderingContext2D;

/** A canvas's context; every browser that runs the rest has one. */
export function penOf(canvas: HTMLCanvasElement, options?: CanvasRenderingContext2DSettings): Pen {
  const pen = canvas.getContext("2d", options);
  if (!pen) throw new Error("This browser draws on no canvas.");
  return pen;
}

let probe: Pen | undefined;

/** Red, green, blue and opacity of a colour of CSS, 0 to 255, however it is written. */
export function painted(colour: string): Uint8ClampedArray {
  probe ??= penOf(element("canvas", { width: 1, height: 1 }), { willReadFrequently: true });
  probe.clearRect(0, 0, 1, 1);
  probe.fillStyle = "#0000"; // of what is on no page yet nothing is painted
  probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1);
  return probe.getImageData(0, 0, 1, 1).data;
}

/** The drawing context of a canvas of so many CSS pixels, cleared; one unit is one CSS pixel. */
export function surface(canvas: HTMLCanvasElement, width: number, height: number): Pen {
  // Presenter mode enlarges components.
  const zoom = (canvas as { currentCSSZoom?: number }).currentCSSZoom ?? 1;
  const ratio = (window.devicePixelRatio || 1) * (zoom || 1);
  const across = Math.round(width * ratio);
  const down = Math.round(height * ratio);
  const other = canvas.width !== across || canvas.height !== down;
  if (other) {
    canvas.width = across;
    canvas.height = down;
  }
  canvas.style.width = `${width}px`; // with another zoom the same pixels may stand for another size
  canvas.style.height = `${height}px`;
  const pen = penOf(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (!other) pen.clearRect(0, 0, width, height); // a new one is clear, and where one is cleared a PDF is white
  return pen;
}

const panels = new WeakMap<HTMLCanvasElement, { redraw(pen: Pen): void }>();

/** The panel whose canvas this is. */
export function panelOf(canvas: HTMLCanvasElement): { redraw(pen: Pen): void } | undefined {
  return panels.get(canvas);
}

/** A picture on a canvas of its own; what it shows last can be painted on other surfaces as well. */
export abstract class Panel<Shown> {
  readonly canvas: HTMLCanvasElement;
  width = 0;
  height = 0;
  protected shown: Shown | undefined;

  constructor(className = "") {
    this.canvas = element("canvas", { role: "img", className });
    panels.set(this.canvas, this);
    ofOneFinger(this.canvas);
  }

  /** Be so many CSS pixels wide and high, from the next drawing on. */
  resize(width: number, height: number): void {
    Object.assign(this, { width, height });
  }

  /** Show something, on the panel's own canvas; out of sight not before there is time. */
  draw(shown: Shown): void {
    this.shown = shown;
    drawIn(this.canvas, () => this.redraw());
  }

  /** Paint what is shown; without another pen on the panel's own canvas. */
  redraw(pen?: Pen): void {
    if (this.shown === undefined) return;
    const on = pen ?? surface(this.canvas, this.width, this.height);
    on.save(); // each picture begins with a fresh pen, as on a canvas of another size, and not as the last one left it
    this.paint(on, this.shown);
    on.restore();
  }

  protected abstract paint(pen: Pen, shown: Shown): void;
}

/** A grid of numbers as a picture of one pixel per number, to be stretched without smoothing; NaN stays clear. */
export function raster(
  values: Float32Array,
  columns: number,
  rows: number,
  table: ColourTable,
  low: number,
  high: number,
): HTMLCanvasElement {
  const canvas = element("canvas", { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  for (let i = 0; i < columns * rows; i++) {
    if (!Number.isNaN(values[i])) table.fill(image.data, i, table.at(values[i], low, high));
  }
  penOf(canvas).putImageData(image, 0, 0);
  return canvas;
}

/** Channels, height and width. */
export type Shape = readonly [number, number, number];

/** The context of a canvas of one pixel per number of an image, and pixels to fill. */
export function pixelsOf(canvas: HTMLCanvasElement, [, height, width]: Shape): [Pen, ImageData] {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = penOf(canvas, { willReadFrequently: true }); // a few hundred pixels: no GPU needed
  return [pen, pen.createImageData(width, height)];
}

/** Paint an image of numbers in 0..1 on a canvas of one pixel per number; gives the canvas. */
export function paintImage(canvas: HTMLCanvasElement, shape: Shape, values: Float32Array): HTMLCanvasElement {
  const [pen, pixels] = pixelsOf(canvas, shape);
  imaged(pixels.data, shape, values);
  pen.putImageData(pixels, 0, 0);
  return canvas;
}

/** What `paintImage` paints, as bytes "pixel red green blue opacity". */
export function imaged(bytes: Uint8ClampedArray, [channels, height, width]: Shape, values: Float32Array): void {
  const area = height * width;
  for (let i = 0; i < area; i++) {
    for (let c = 0; c < 3; c++) bytes[4 * i + c] = 255 * values[channels === 3 ? c * area + i : i];
    bytes[4 * i + 3] = 255;
  }
}

/** Grey pictures over one another on black, each in its colour; where they meet colours add. */
export function paintInks(
  canvas: HTMLCanvasElement,
  shape: Shape,
  layers: readonly (readonly [values: Float32Array, ink: string])[],
): void {
  const [pen, pixels] = pixelsOf(canvas, shape);
  inked(pixels.data, layers);
  pen.putImageData(pixels, 0, 0);
}

/** What `paintInks` paints, as bytes "pixel red green blue opacity", which end where they are too large. */
export function inked(
  bytes: Uint8ClampedArray,
  layers: readonly (readonly [values: Float32Array, ink: string])[],
): void {
  const inks = layers.map(([, ink]) => rgb(ink));
  for (let i = 0; 4 * i < bytes.length; i++) {
    const sum = (part: "r" | "g" | "b"): number =>
      layers.reduce((total, [values], k) => total + values[i] * inks[k][part], 0);
    bytes.set([sum("r"), sum("g"), sum("b"), 255], 4 * i);
  }
}
