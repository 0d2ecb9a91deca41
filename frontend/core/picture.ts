// A board as a picture of its own, SVG or PNG: its panels paint themselves again, and what stands between them in HTML is
// written where it stands. Buttons and sliders stay behind.

import { Context } from "svgcanvas";

import { painted, panelOf, type Pen, penOf } from "./canvas";
import { element } from "./dom";
import { lines } from "./letters";

const LEFT_OUT = ".player-controls button, .tools, select, input, .zero, .hint, .basics .controls button";
const SHARPER = 2; // pixels of a PNG for each of the board

/** What is on the screen of a board, painted on another surface. */
function paint(root: HTMLElement, pen: Pen, ground: string): void {
  const { left, top, width, height } = root.getBoundingClientRect();
  pen.fillStyle = ground;
  pen.fillRect(0, 0, width, height);
  pen.save();
  pen.translate(-left, -top);
  walk(root, pen);
  pen.restore();
}

function walk(at: Element, pen: Pen): void {
  const style = getComputedStyle(at);
  const boxless = style.display === "contents" && style.visibility === "visible"; // what stands in it is on the screen, and it is not
  if (at.matches(LEFT_OUT) || !(boxless || at.checkVisibility({ visibilityProperty: true }))) return;
  const box = at.getBoundingClientRect();
  if (at instanceof HTMLCanvasElement) {
    pen.save();
    pen.translate(box.left, box.top);
    const panel = panelOf(at);
    pen.imageSmoothingEnabled = false;
    if (panel) panel.redraw(pen);
    else if (at.width && at.height) pen.drawImage(at, 0, 0, box.width, box.height);
    pen.restore();
    return;
  }
  pen.save();
  if (!boxless) pen.globalAlpha *= Number(style.opacity);
  if (box.width && box.height) ground(pen, box, style);
  if (!boxless && (style.overflowX !== "visible" || style.overflowY !== "visible")) {
    pen.beginPath();
    pen.rect(box.left, box.top, box.width, box.height); // what is scrolled away, or cut, stands beside it
    pen.clip();
  }
  for (const child of at.childNodes) {
    if (child instanceof Element) walk(child, pen);
    else if (child instanceof Text) write(child, pen, style);
  }
  pen.restore();
}

/** Behind an element: its colour, or its colours from left to right, and its border. */
function ground(pen: Pen, box: DOMRect, style: CSSStyleDeclaration): void {
  const side = Math.min(box.width, box.height);
  const radius = parseFloat(style.borderTopLeftRadius) * (style.borderTopLeftRadius.endsWith("%") ? side / 100 : 1);
  const shape = (): void => {
    pen.beginPath();
    pen.roundRect(box.left, box.top, box.width, box.height, Math.min(radius, side / 2));
  };
  const colours = style.backgroundImage.startsWith("linear-gradient(to right")
    ? [...style.backgroundImage.matchAll(/((?:rgb|color|oklab)a?\([^)]*\))(?: ([\d.]+)%)?/g)]
    : [];
  if (colours.length) {
    // In SVG it stands where the page says, whatever the pen is moved by.
    const moved = pen instanceof Context ? pen.getTransform().e : 0;
    const gradient = pen.createLinearGradient(box.left + moved, 0, box.right + moved, 0);
    colours.forEach(([, colour, at], k) => {
      gradient.addColorStop(at ? Number(at) / 100 : k / (colours.length - 1), colour);
    });
    pen.fillStyle = gradient;
    shape();
    pen.fill();
  } else if (seen(style.backgroundColor)) {
    pen.fillStyle = plain(style.backgroundColor);
    shape();
    pen.fill();
  }
  if (parseFloat(style.borderTopWidth) && style.borderTopStyle !== "none" && seen(style.borderTopColor)) {
    pen.strokeStyle = plain(style.borderTopColor);
    pen.lineWidth = parseFloat(style.borderTopWidth);
    shape();
    pen.stroke();
  }
}

/** A colour as every program that reads SVG knows it: browsers also compute `color(srgb …)`. */
function plain(colour: string): string {
  const [red, green, blue, opacity] = painted(colour);
  return `rgba(${red}, ${green}, ${blue}, ${(opacity / 255).toFixed(3)})`;
}

function seen(colour: string): boolean {
  return painted(colour)[3] > 0;
}

/** The words of a text, each where it stands: a line may break between any two, and within one. */
function write(text: Text, pen: Pen, style: CSSStyleDeclaration): void {
  const range = document.createRange();
  pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  pen.fillStyle = plain(style.color);
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  const between = (from: number, to: number): Range => {
    range.setStart(text, from);
    range.setEnd(text, to);
    return range;
  };
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    const broken = between(index, index + word.length).getClientRects().length > 1;
    const parts = broken
      ? lines(word, (from, to) => between(index + from, index + to).getBoundingClientRect())
      : [word];
    let from = index;
    for (const part of parts) {
      const box = between(from, (from += part.length)).getBoundingClientRect();
      if (!box.width) continue;
      const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = pen.measureText(part);
      pen.fillText(part, box.left, box.top + (box.height * above) / (above + below));
    }
  }
}

/** A board as SVG. */
export function svgOf(root: HTMLElement, ground: string): string {
  const { width, height } = root.getBoundingClientRect();
  const pen = new Context({ width, height });
  paint(root, pen, ground);
  const svg = pen.getSvg();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  for (const image of svg.querySelectorAll("image")) image.setAttribute("style", "image-rendering: pixelated");
  return new XMLSerializer().serializeToString(svg);
}

/** A board as PNG. */
export function pngOf(root: HTMLElement, ground: string): Promise<Blob> {
  const { width, height } = root.getBoundingClientRect();
  const canvas = element("canvas", { width: Math.round(SHARPER * width), height: Math.round(SHARPER * height) });
  const pen = penOf(canvas);
  pen.scale(SHARPER, SHARPER);
  paint(root, pen, ground);
  return new Promise((made, failed) => {
    canvas.toBlob((blob) => {
      if (blob) made(blob);
      else failed(new Error("The browser made no PNG of this picture."));
    });
  });
}
