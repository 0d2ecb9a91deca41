// The colours that Python sends, as drawing needs them.

import { rgb } from "d3-color";
import { scaleLinear } from "d3-scale";

/** Position from 0 to 1 and "#rrggbb" of each stop of a colour scale. */
type Stops = readonly (readonly [number, string])[];

export interface Theme {
  /** The page. */
  readonly ground: string;
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  /** Marks what a picture is about. */
  readonly accent: string;
  readonly negative: string;
  readonly positive: string;
  readonly classes: readonly string[];
  /** Those of the classes for drawings on black. */
  readonly inks: readonly string[];
  readonly diverging: Stops;
  readonly sequential: Stops;
}

/** A colour scale as a table of 256 colours. */
export class ColourTable {
  readonly css: string[] = [];
  private readonly bytes = new Uint8ClampedArray(256 * 3);

  constructor(stops: Stops) {
    const scale = scaleLinear<string>(
      stops.map(([at]) => at),
      stops.map(([, colour]) => colour),
    );
    for (let i = 0; i < 256; i++) {
      const colour = rgb(scale(i / 255));
      this.bytes.set([colour.r, colour.g, colour.b], 3 * i);
      this.css.push(colour.formatHex());
    }
  }

  /** Place in the table of a value between low and high. */
  at(value: number, low: number, high: number): number {
    return Math.max(0, Math.min(255, Math.round((255 * (value - low)) / (high - low || 1))));
  }

  /** The colour of a value between low and high, as CSS. */
  of(value: number, low: number, high: number): string {
    return this.css[this.at(value, low, high)];
  }

  /** Write the colour of a place in the table into pixel `pixel` of an image. */
  fill(pixels: Uint8ClampedArray, pixel: number, at: number): void {
    pixels[4 * pixel] = this.bytes[3 * at];
    pixels[4 * pixel + 1] = this.bytes[3 * at + 1];
    pixels[4 * pixel + 2] = this.bytes[3 * at + 2];
    pixels[4 * pixel + 3] = 255;
  }
}

/** Black or white, whichever is read more easily on a colour (contrast of WCAG 2.2). */
export function inkOn(ground: string): string {
  const { r, g, b } = rgb(ground);
  const [red, green, blue] = [r, g, b].map((c) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179 ? "#ffffff" : "#000000";
}
