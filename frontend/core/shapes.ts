// Lines, rings, labels and where a point lies: what several pictures need.

import type { Pen } from "./canvas";
import type { Theme } from "./colours";
import { lettersOf } from "./letters";
import type { Look } from "./look";

export type Place = readonly [number, number];

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Lines from here on: their colour and their width. */
export function strokeIn(pen: Pen, colour: string, width: number): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
}

export function line(pen: Pen, x0: number, y0: number, x1: number, y1: number): void {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

/** A filled disc, whose path is the pen's: what strokes it next goes around it. */
export function disc(pen: Pen, [x, y]: Place, radius: number, colour: string | CanvasGradient | CanvasPattern): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = colour;
  pen.fill();
}

export function ring(pen: Pen, [x, y]: Place, radius: number): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.stroke();
}

export function cross(pen: Pen, x: number, y: number, size: number, colour: string): void {
  strokeIn(pen, colour, 1);
  line(pen, x, y, x + size, y + size);
  line(pen, x + size, y, x, y + size);
}

/** The end of a line from a point inside a box, cut at its border; whether it was cut. */
export function within(
  [x0, y0]: Place,
  [x1, y1]: Place,
  left: number,
  top: number,
  right: number,
  bottom: number,
): [Place, boolean] {
  let share = 1;
  if (x1 > right) share = Math.min(share, (right - x0) / (x1 - x0));
  if (x1 < left) share = Math.min(share, (left - x0) / (x1 - x0));
  if (y1 > bottom) share = Math.min(share, (bottom - y0) / (y1 - y0));
  if (y1 < top) share = Math.min(share, (top - y0) / (y1 - y0));
  return [[x0 + share * (x1 - x0), y0 + share * (y1 - y0)], share < 1];
}

/** An arrow; frame: of which colour its outline is, empty for none. */
export function arrow(pen: Pen, from: Spot, to: Spot, width: number, colour: string, frame = ""): void {
  const far = Math.hypot(to.x - from.x, to.y - from.y);
  const head = Math.min(far, 9 + 1.6 * width);
  const [stop, half, wing] = [far - head, width / 2, width / 2 + head * 0.38];
  pen.save();
  pen.translate(from.x, from.y);
  pen.rotate(Math.atan2(to.y - from.y, to.x - from.x));
  pen.beginPath();
  pen.moveTo(0, -half);
  for (const [x, y] of [
    [stop, -half],
    [stop, -wing],
    [far, 0],
    [stop, wing],
    [stop, half],
    [0, half],
  ])
    pen.lineTo(x, y);
  pen.closePath();
  if (frame) {
    strokeIn(pen, frame, 4);
    pen.stroke();
  }
  pen.fillStyle = colour;
  pen.fill();
  pen.restore();
}

/** The path of a triangle of about the area of a disc of this radius, its tip at a point that it is turned towards. */
export function arrowhead(pen: Pen, [x, y]: Place, radius: number, angle: number): void {
  const [cos, sin] = [radius * Math.cos(angle), radius * Math.sin(angle)];
  for (const [along, aside] of [
    [0.9, 0],
    [-1.5, 1.35],
    [-1.5, -1.35],
  ])
    pen.lineTo(x + along * cos - aside * sin, y + along * sin + aside * cos);
  pen.closePath();
}

/** Text that reads on whatever lies below it, centred. */
export function haloed(
  pen: Pen,
  text: string,
  x: number,
  y: number,
  { ground, text: ink }: Pick<Theme, "ground" | "text">,
  width = 4,
): void {
  pen.textAlign = "center";
  pen.lineJoin = "round";
  strokeIn(pen, ground, width);
  pen.strokeText(text, x, y);
  pen.fillStyle = ink;
  pen.fillText(text, x, y);
  pen.textAlign = "left";
}

/** Lines of text in a box beside a point, inside the picture. */
export function bubble(
  pen: Pen,
  lines: readonly string[],
  [x, y]: Place,
  { width, height }: { readonly width: number; readonly height: number },
  look: Look,
): void {
  pen.font = look.type(14);
  const [pitch, inset] = [19 * look.scale, 8 * look.scale];
  const across = Math.max(...lines.map((text) => pen.measureText(text).width)) + 2 * inset;
  const down = pitch * lines.length + 10 * look.scale;
  const left = Math.max(2, x + 14 + across > width ? x - 14 - across : x + 14);
  const top = Math.max(2, Math.min(height - down - 2, y - down / 2));
  pen.fillStyle = look.theme.ground;
  strokeIn(pen, look.theme.muted, 1);
  pen.beginPath();
  pen.roundRect(left, top, across, down, 6);
  pen.fill();
  pen.stroke();
  pen.fillStyle = look.theme.text;
  pen.textAlign = "left";
  lines.forEach((text, k) => pen.fillText(text, left + inset, top + pitch * (k + 1)));
}

/** The width that the longest of some names takes in a size, up to a most: beyond that they are cut. */
export function roomFor(pen: Pen, names: readonly string[], size: number, look: Look, most: number): number {
  pen.font = look.type(size, "bold");
  return Math.min(most, Math.max(...names.map((name) => pen.measureText(name).width)));
}

/** The first of several texts that fits a width; if none does, the last one, cut, with dots where something is missing. */
export function fitted(pen: Pen, text: string | readonly string[], width: number): string {
  const texts = typeof text === "string" ? [text] : text;
  const found = texts.find((each) => pen.measureText(each).width <= width);
  if (found !== undefined) return found;
  const letters = lettersOf(texts[texts.length - 1]);
  const short = (): string => letters.join("").trimEnd();
  while (letters.length > 1 && pen.measureText(`${short()}…`).width > width) letters.pop();
  return `${short()}…`;
}

/** How high a row of colours is, and how far below its upper edge the words beside it stand. */
export function barOf({ beyond, scale }: Pick<Look, "beyond" | "scale">): { high: number; baseline: number } {
  return { high: 13 * beyond, baseline: 6.5 * beyond + 4.5 * scale };
}

/** A row of colours that ends at x, with its ends in numbers. */
export function scaleBar(
  pen: Pen,
  x: number,
  y: number,
  colours: readonly string[],
  [low, high]: readonly [string, string],
  look: Look,
  wide = Math.round(110 * look.beyond),
): void {
  const bar = barOf(look);
  pen.font = look.type(13);
  pen.fillStyle = look.theme.muted;
  pen.textAlign = "right";
  pen.fillText(high, x, y + bar.baseline);
  const right = x - pen.measureText(high).width - 6;
  for (let k = 0; k < wide; k++) {
    pen.fillStyle = colours[Math.round(((colours.length - 1) * k) / (wide - 1))];
    pen.fillRect(right - wide + k, y, 1.5, bar.high);
  }
  pen.fillStyle = look.theme.muted;
  pen.fillText(low, right - wide - 6, y + bar.baseline);
  pen.textAlign = "left";
}
