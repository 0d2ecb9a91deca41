// The drawing pad: strokes in, a PNG out. The drawing lives here; its host hears of it after every change.
//
// A stroke is a list of points on a square of SIDE units, whatever size the pad has on screen.

import { onResolution } from "../core/dom";
import { keyOf } from "../core/key";
import { keep, recalled } from "../core/tab-storage";
import {
  cleared,
  drawEnd,
  drawPiece,
  drawStroke,
  extend,
  inked,
  type Mark,
  type Point,
  SIDE,
  type Stroke,
  strokesOf,
} from "./drawing";

const QUIET = 150; // milliseconds without a stroke before the host hears of the drawing

/** What the host hears: the PNG in base 64, null where nothing is drawn, and the drawing's version. */
export interface Drawing {
  readonly png: string | null;
  readonly version: number | null;
  /** Nothing was drawn, the host only does not know it, as after a reload. */
  readonly again: boolean;
}

interface Kept {
  marks: Mark[];
  version: number | null;
  pen: number;
}

/** The elements that the pad works on. */
interface Parts {
  readonly root: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly undo: HTMLButtonElement;
  readonly clear: HTMLButtonElement;
  readonly slider: HTMLInputElement;
  readonly hint: HTMLElement;
  readonly nib: HTMLElement;
}

export class Pad {
  private readonly storage: string;
  private readonly listeners = new AbortController();
  private readonly resized = new ResizeObserver(() => this.fit());
  private screen: CanvasRenderingContext2D;
  private marks: Mark[];
  private version: number | null;
  private pen: number;
  private points: Point[] | null = null; // of the stroke being drawn
  private pointer: { readonly id: number; readonly kind: string } | null = null; // whose stroke it is: other fingers and palms are ignored meanwhile
  private timer: number | undefined;

  /** name: under which the tab keeps the drawing; known: the version that the host has. */
  constructor(
    private readonly parts: Parts,
    name: string,
    known: number | null,
    public tell: (drawing: Drawing) => void,
  ) {
    this.screen = inked(parts.canvas);
    this.storage = `capsviz-drawing-pad-1:${name}`;
    const kept = (recalled(this.storage) ?? {}) as Partial<Kept>;
    this.marks = kept.marks ?? [];
    this.version = kept.version ?? null;
    this.pen = kept.pen ?? 20;
    this.listen();
    this.fit();
    this.refresh();
    if (this.version !== known) this.tellSoon(true);
  }

  get root(): HTMLElement {
    return this.parts.root;
  }

  private listen(): void {
    const { root, canvas, undo, clear, slider } = this.parts;
    const { signal } = this.listeners;
    canvas.addEventListener("pointerdown", (event) => this.begin(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.move(event), { signal });
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      const ends = (event: PointerEvent): void => {
        if (event.pointerId === this.pointer?.id) this.end();
      };
      canvas.addEventListener(type, ends, { signal });
    }
    // Else an Apple Pencil's second stroke is taken for handwriting, and lost.
    canvas.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false, signal });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault(), { signal }); // a long press draws a dot
    undo.addEventListener("click", () => this.undo(), { signal });
    clear.addEventListener("click", () => this.clear(), { signal });
    // WebKit gives a button that is pressed no focus; the pad's keys are to be heard after it.
    const pressed = (): void => {
      if (!root.contains(this.focused)) this.focus();
    };
    for (const each of [undo, clear]) each.addEventListener("click", pressed, { signal });
    slider.addEventListener("input", () => this.choosePen(slider.valueAsNumber), { signal });
    root.addEventListener("keydown", (event) => this.key(event), { signal });
    this.resized.observe(canvas);
    onResolution(() => this.fit(), signal);
  }

  close(): void {
    if (this.points) this.end();
    window.clearTimeout(this.timer); // whoever mounts next finds another version than the host's and tells it
    this.listeners.abort();
    this.resized.disconnect();
  }

  // ---- drawing

  private begin(event: PointerEvent): void {
    const palm = this.pointer?.kind === "touch" && event.pointerType === "pen"; // it lay there before the pen came
    if ((this.points && !palm) || event.button !== 0) return;
    window.clearTimeout(this.timer);
    this.pointer = { id: event.pointerId, kind: event.pointerType };
    this.parts.canvas.setPointerCapture(event.pointerId);
    this.points = [];
    if (palm) this.redraw();
    this.add(this.points, event);
    this.refresh();
  }

  private move(event: PointerEvent): void {
    if (event.pointerId !== this.pointer?.id || !this.points) return;
    // Absent on pages served without TLS.
    const coalesced = (event as Partial<PointerEvent>).getCoalescedEvents;
    const between = coalesced ? coalesced.call(event) : [];
    for (const each of between.length ? between : [event]) this.add(this.points, each);
  }

  private add(points: Point[], event: PointerEvent): void {
    const box = this.parts.canvas.getBoundingClientRect();
    // Only pens feel pressure; 0.5 is what they report in the middle of their range.
    const width = event.pointerType === "pen" && event.pressure ? this.pen * (0.5 + event.pressure) : this.pen;
    const x = ((event.clientX - box.left) / box.width) * SIDE;
    const y = ((event.clientY - box.top) / box.height) * SIDE;
    if (extend(points, x, y, width)) drawPiece(this.screen, points, points.length - 1);
  }

  private end(): void {
    const stroke = this.points;
    this.points = this.pointer = null;
    if (!stroke) return;
    drawEnd(this.screen, stroke);
    this.marks.push(stroke);
    this.changed();
  }

  private undo(): void {
    if (this.points || !this.marks.length) return;
    this.marks.pop();
    this.redraw();
    this.changed();
  }

  private clear(): void {
    if (this.points || !this.strokes.length) return;
    this.marks = cleared(this.marks);
    this.redraw();
    this.changed();
  }

  private choosePen(width: number): void {
    this.pen = width;
    this.save();
    this.refresh();
  }

  private key(event: KeyboardEvent): void {
    const { canvas, slider } = this.parts;
    const undo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    if (undo && keyOf(event) === "z") {
      event.preventDefault();
      event.stopPropagation();
      this.undo();
    } else if (event.target === slider || (event.target !== canvas && [" ", "Enter"].includes(event.key))) {
      event.stopPropagation(); // the slider's arrows and a button's space are no commands to the page
    }
  }

  // ---- what is drawn

  private get strokes(): Stroke[] {
    return strokesOf(this.marks);
  }

  private changed(): void {
    this.version = Date.now();
    this.save();
    this.refresh();
    this.tellSoon();
  }

  private save(): void {
    const { marks, version, pen } = this;
    keep(this.storage, { marks, version, pen });
  }

  private tellSoon(again = false): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.tell({ png: this.png(), version: this.version, again }), QUIET);
  }

  private png(): string | null {
    if (!this.strokes.length) return null;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = SIDE;
    const context = inked(canvas);
    for (const stroke of this.strokes) drawStroke(context, stroke);
    return canvas.toDataURL("image/png").split(",")[1];
  }

  // ---- what is shown

  private fit(): void {
    const { canvas } = this.parts;
    const pixels = Math.round(canvas.clientWidth * devicePixelRatio);
    if (!pixels || pixels === canvas.width) return; // no width while it is hidden
    canvas.width = canvas.height = pixels;
    this.redraw();
    this.refresh();
  }

  /** What has the focus beside or in the pad. */
  private get focused(): Element | null {
    return (this.root.getRootNode() as Document | ShadowRoot).activeElement;
  }

  private focus(): void {
    this.parts.canvas.focus({ preventScroll: true });
  }

  private redraw(): void {
    this.screen = inked(this.parts.canvas);
    for (const stroke of this.strokes) drawStroke(this.screen, stroke);
    const { points } = this;
    points?.forEach((_, index) => drawPiece(this.screen, points, index));
  }

  private refresh(): void {
    const { canvas, undo, clear, slider, hint, nib } = this.parts;
    const count = this.strokes.length;
    hint.hidden = count > 0 || this.points !== null;
    const drawn = count === 0 ? "empty" : count === 1 ? "1 stroke" : `${count} strokes`;
    canvas.setAttribute("aria-label", `Drawing pad for mouse, pen or finger, ${drawn}`);
    const { focused } = this;
    undo.disabled = this.marks.length === 0;
    clear.disabled = count === 0;
    if (focused === undo ? undo.disabled : focused === clear && clear.disabled) {
      this.focus(); // keyboards would start at the top again
    }
    slider.value = String(this.pen);
    nib.style.width = nib.style.height = `${(this.pen / SIDE) * (canvas.clientWidth || SIDE)}px`;
  }
}
