// Class capsules drawn by their decoders at every move of a hand: on sliders, on the cells of all capsules, on a walk.
//
// The weights of a decoder come as messages of their own (`keep`), once; everything else is the board's message:
// capsules, titles, colours, and what the visitor left them at.

import { Board, type Host, type Mount, mounting } from "../core/board";
import { paintImage, paintInks, pixelsOf, type Shape } from "../core/canvas";
import { type ColourTable, type Theme } from "../core/colours";
import { element } from "../core/dom";
import { Later } from "../core/later";
import { SharedValue } from "../core/shared-value";
import { Cells } from "./cells";
import "./decoder.css";
import { type Capsule, Decoder, type Weights } from "./network";
import { type DecoderMessage, type HandPanel, scaleKey, type State, type Workbench } from "./panel";
import { Sliders } from "./sliders";
import { Walk } from "./walk";

const KEPT = 16; // decoders; the weights of one take about 6 MB as float32
const RECORDED = 2000; // latencies
const QUIET = 180; // milliseconds without another key before the host hears the value that keys left behind

const decoders = new Map<string, Decoder>(); // by the digest of their weights, the oldest first
const arrivals = new EventTarget(); // "decoder": another one is in the map

/** Whether a decoder is here, which then counts as the youngest. */
export function touch(digest: string): boolean {
  const known = decoders.get(digest);
  if (!known) return false;
  decoders.delete(digest);
  decoders.set(digest, known);
  return true;
}

/** Keep a decoder's weights; boards that wait for them draw. */
function keep(weights: Weights): void {
  if (touch(weights.digest)) return;
  decoders.set(weights.digest, new Decoder(weights));
  const [oldest] = decoders.keys();
  if (decoders.size > KEPT) decoders.delete(oldest);
  arrivals.dispatchEvent(new Event("decoder"));
}

const ROWS = { before: "as it is", after: "moved", difference: "difference" } as const;
type Row = keyof typeof ROWS;
const PANELS = { sliders: Sliders, cells: Cells, walk: Walk };

/** What tests and `capsviz benchmark app` ask of the board's element. */
interface Measured {
  /** Milliseconds from the visitor's event to the painted canvas. */
  capsvizLatencies: number[];
  capsvizFrames: number;
}

type Message = DecoderMessage & { readonly theme: Theme };

class LiveDecoder extends Board<Message> implements Workbench {
  state!: State;
  hand: number | undefined;
  dragging = false;
  private readonly measured: Measured;
  private left = new SharedValue();
  /** The class that was told or heard last. */
  private toldUpper: number | undefined;
  private readonly listening = new AbortController();
  // Runs after the frame: what was painted in it is then on its way to the screen.
  private readonly painted = new MessageChannel();
  private panel: HandPanel | undefined;
  private plan = "";
  private canvases: Record<Row, HTMLCanvasElement>[] = [];
  private before: Float32Array[] = [];
  /** By decoder: what the image's other objects look like, and their colours. */
  private still: (readonly [Float32Array, string])[][] = [];
  private frame: number | undefined;
  private stamp: number | undefined;
  private readonly later = new Later(() => this.leave(), QUIET);

  constructor(host: Host) {
    super(host, "live-decoder");
    this.measured = Object.assign(this.root, { capsvizLatencies: [], capsvizFrames: 0 });
    const { signal } = this.listening;
    arrivals.addEventListener("decoder", () => this.refresh(), { signal });
    // On the window, because a pointer may be let go anywhere; `change` follows in the same breath and asks for it still.
    const release = (): void => {
      if (!this.dragging) return;
      setTimeout(() => {
        this.dragging = false;
        this.panel?.released?.();
      });
    };
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, release, { signal });
    // The clock starts at the visitor's own event: that of `input` is younger.
    const stamp = (event: Event): void => {
      this.hand = event.timeStamp;
    };
    for (const start of ["pointerdown", "pointermove", "keydown"]) {
      window.addEventListener(start, stamp, { signal, capture: true, passive: true });
    }
    this.painted.port1.onmessage = ({ data }: MessageEvent<number>) => {
      const { capsvizLatencies: latencies } = this.measured;
      latencies.push(performance.now() - data);
      if (latencies.length > RECORDED) latencies.shift();
    };
  }

  override destroy(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.later.stop();
    this.listening.abort();
    this.painted.port1.close();
    this.panel?.destroy?.();
    super.destroy();
  }

  get colours(): ColourTable {
    return this.look.diverging;
  }
  get data(): Message {
    if (!this.message) throw new Error("The board was asked before it heard a message.");
    return this.message;
  }

  decoder(place: number): Decoder | undefined {
    return decoders.get(this.data.decoders[place].digest);
  }

  protected update(data: Message, before: Message | undefined): void {
    if (this.turned("left", data, before)) {
      this.left = new SharedValue();
      this.forget();
    }
    this.take(data);
    const titles = data.decoders.map(({ title }) => title);
    const units = data.decoders.map(({ unit }) => unit);
    const plan = JSON.stringify([titles, units, data.decoders[0].poses[0].length, data.hand, data.classes]);
    if (plan !== this.plan) this.build();
    this.plan = plan;
    this.refresh();
  }

  protected arrange(): void {
    // The style sheet does it.
  }

  /** What the host says, where it is news; under the visitor's hand it may be no more than a new theme. */
  private take({ state, acknowledged }: Message): void {
    this.toldUpper = state.upper;
    const moving = this.dragging || this.later.waiting;
    if (!this.left.takes(leftAt(state), acknowledged.left, moving)) return;
    const before = this.state;
    this.state = structuredClone(state);
    // Another class under a hand that is not heard of yet; on all capsules at once an offset belongs to its row.
    if (moving && this.data.hand !== "cells") {
      Object.assign(this.state, { offsets: before.offsets, share: before.share });
    } else this.forget();
  }

  private build(): void {
    const { decoders, hand } = this.data;
    const several = decoders.length > 1;
    this.root.classList.toggle("several", several);
    this.root.style.setProperty("--decoders", String(decoders.length));
    const rows = Object.keys(ROWS) as Row[];
    this.canvases = decoders.map(({ title }) => {
      const canvas = (row: Row): HTMLCanvasElement =>
        element("canvas", { className: row, role: "img", "aria-label": `${ROWS[row]}: ${title}` });
      return { before: canvas("before"), after: canvas("after"), difference: canvas("difference") };
    });
    const pictures = element("div", { className: "pictures" });
    if (several) {
      const titles = decoders.map(({ title }) => element("h3", { textContent: title }));
      pictures.append(element("div", { className: "titles" }, ...titles));
    }
    for (const row of rows) {
      const key = row === "difference" ? [scaleKey("−1", "+1")] : [];
      const words = element("figcaption", {}, element("span", { textContent: ROWS[row] }), ...key);
      const shown = element("div", { className: "canvases" }, ...this.canvases.map((own) => own[row]));
      pictures.append(element("figure", { className: row }, words, shown));
    }
    this.panel?.destroy?.();
    this.panel = new PANELS[hand](this);
    const units = decoders
      .filter(({ unit }) => unit !== 1)
      .map(({ title, unit }) => {
        const size = `in units of ${unit}, about the length of its class capsules`;
        return element("p", { className: "unit", textContent: `Numbers and offsets of ${title} are ${size}.` });
      });
    this.root.replaceChildren(pictures, this.panel.root, ...units);
  }

  offset(dimension: number, offset: number, stamp: number | undefined): void {
    const { reach } = this.data;
    this.state.offsets[dimension] = Math.round(Math.max(-reach, Math.min(reach, offset)) * 100) / 100;
    this.moved(stamp);
    this.hand = undefined;
  }

  reset(event: Event): void {
    this.state.offsets.fill(0);
    this.moved(event.timeStamp);
    this.leave();
  }

  select(label: number, tell = true): void {
    if (this.state.upper !== label) {
      this.state.upper = label;
      // On all capsules at once it stands as it is: an offset belongs to the row that it is on.
      if (this.data.hand === "cells") this.state.offsets.fill(0);
      this.refresh();
    }
    if (tell) this.leave();
  }

  forget(): void {
    this.later.stop();
  }

  leaveSoon(): void {
    this.later.soon();
  }

  /** Not while something plays. */
  leave(): void {
    this.later.stop();
    if (this.panel?.playing) {
      this.leaveSoon();
      return;
    }
    const now = leftAt(this.state);
    if (!this.left.sends(now)) return;
    this.tell("left", { ...now, picked: now.upper !== this.toldUpper });
    this.toldUpper = now.upper;
  }

  /** Draw in the next frame, once, however many events come before it. */
  moved(stamp: number | undefined): void {
    this.stamp ??= stamp;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
      this.measured.capsvizFrames++;
      if (this.stamp !== undefined) this.painted.port2.postMessage(this.stamp);
      this.stamp = undefined;
    });
  }

  /** Everything anew: the capsules, the colours of the theme, or a decoder that has arrived. */
  private refresh(): void {
    if (!this.message || !this.panel) return;
    const { upper } = this.state;
    const found = this.data.decoders.flatMap((_, place) => this.decoder(place) ?? []);
    const ready = found.length === this.data.decoders.length;
    this.root.classList.toggle("waiting", !ready);
    this.root.dataset.ready = String(ready);
    const stops = this.data.theme.diverging.map(([at, colour]) => `${colour} ${at * 100}%`).join(", ");
    this.root.style.setProperty("--scale", `linear-gradient(to right, ${stops})`);
    this.panel.refresh();
    if (ready) {
      this.before = found.map((decoder, place) => decoder.draw([[upper, this.data.decoders[place].poses[upper]]]));
      this.still = found.map((decoder, place) => {
        const { present, poses } = this.data.decoders[place];
        const others = present.includes(upper) ? present.filter((label) => label !== upper) : [];
        return others.map((label) => [decoder.draw([[label, poses[label]]]), this.data.theme.inks[label]] as const);
      });
      found.forEach(({ image }, place) => this.paint(this.canvases[place].before, image, this.before[place], place));
    }
    this.draw();
  }

  /** A drawing of the chosen capsule, over those of the other objects where the image shows several. */
  private paint(canvas: HTMLCanvasElement, image: Shape, drawing: Float32Array, place: number): void {
    const still = this.still[place];
    if (still.length) paintInks(canvas, image, [...still, [drawing, this.data.theme.inks[this.state.upper]]]);
    else paintImage(canvas, image, drawing);
  }

  movedPose(place: number): number[] {
    return this.data.decoders[place].poses[this.state.upper].map((value, d) => value + this.state.offsets[d]);
  }

  private capsules(place: number): Capsule[] {
    return this.panel?.capsules?.(place) ?? [[this.state.upper, this.movedPose(place)]];
  }

  private draw(): void {
    this.panel?.write();
    this.canvases.forEach((own, place) => {
      const decoder = this.decoder(place);
      const before = this.before.at(place);
      if (!decoder || !before) return;
      const after = decoder.draw(this.capsules(place));
      this.paint(own.after, decoder.image, after, place);
      paintDifference(own.difference, decoder.image, before, after, this.colours);
    });
  }
}

/** What the visitor left everything at, as a link keeps it: with two decimals. */
function leftAt({ upper, offsets, to, share, sphere }: State): State {
  return { upper, offsets: [...offsets], to, share: Math.round(100 * share) / 100, sphere };
}

/** after − before, averaged over the channels, on the scale from −1 to 1. */
function paintDifference(
  canvas: HTMLCanvasElement,
  image: Shape,
  before: Float32Array,
  after: Float32Array,
  colours: ColourTable,
): void {
  const [pen, pixels] = pixelsOf(canvas, image);
  const area = image[1] * image[2];
  for (let i = 0; i < area; i++) {
    let sum = 0;
    for (let c = 0; c < image[0]; c++) sum += after[c * area + i] - before[c * area + i];
    colours.fill(pixels.data, i, colours.at(sum / image[0], -1, 1));
  }
  pen.putImageData(pixels, 0, 0);
}

const mountBoard = mounting(LiveDecoder);

/** Keeps the weights of a message of weights, and gives every other message to the element's board. */
export const mountDecoder: Mount = (host, message, tell) => {
  const { weights, numbers } = message as {
    readonly weights?: Omit<Weights, "numbers">;
    readonly numbers: Float32Array;
  };
  if (!weights) return mountBoard(host, message, tell);
  keep({ ...weights, numbers });
  return () => undefined;
};
