// Maps over the geometry, frame by frame, and what stands beside them: all frames are here, no server is asked. The host
// hears of a capsule that is clicked, and of the frame at which the player was left.

import { aloud } from "../core/aloud";
import { Board, type Acknowledged, type Host } from "../core/board";
import { element, roomBelow } from "../core/dom";
import { shown } from "../core/numbers";
import { PlayerControls } from "../core/player-controls";
import { SharedValue } from "../core/shared-value";
import { Histogram, LineChart } from "./charts";
import { MapsData, type MapsFields } from "./data";
import "./capsule-maps.css";
import { Lines } from "./lines";
import { CapsuleMap, ClassBars, Sight } from "./maps";
import type { Part, DrawState } from "./part";

const BELOW = 140; // CSS pixels in ordinary type that a map has beside its tiles: names, key, counts, what is said of a capsule
const BETWEEN = 7; // and charts have below them
const NARROWEST = 170; // CSS pixels in ordinary type that a chart beside another has at least
const FEW = 3; // charts, below which the histogram still stands in their column
const WHOLE = 9000; // milliseconds that many frames take from start to end

interface Message extends MapsFields {
  readonly capsule: number | null;
  /** The frame at which to stand, null for the last. */
  readonly frame: number | null;
  readonly acknowledged: Acknowledged;
}

export class CapsuleMaps extends Board<Message> {
  private data: MapsData | undefined;
  private chosen: number | null = null;
  private pointed: number | null = null;
  private readonly shared = new SharedValue();
  private best = 0;
  private form = "";
  private maps: CapsuleMap[] = [];
  private parts: Part[] = [];
  private lines: Lines | null = null;
  private readonly player = element("div", { className: "player" });
  private readonly readout = aloud(element("p", { className: "readout" }));

  constructor(host: Host) {
    super(host, "capsule-maps");
  }

  protected update(message: Message): void {
    const data = (this.data = new MapsData(message));
    const { look } = this;
    if (this.shared.takes(message.capsule, message.acknowledged.capsule)) this.chosen = message.capsule;
    if (this.chosen !== null && this.chosen >= data.lower) this.chosen = null;
    if (this.pointed !== null && this.pointed >= data.lower) this.pointed = null;
    const { maps, curves, lines, histogram, image, per_class: perClass } = message;
    const form = JSON.stringify([maps.length, curves.length, lines.length, histogram, !!image, !!perClass]);
    if (form !== this.form) this.build(message);
    this.form = form;
    for (const part of this.parts) part.update(data, look);
    this.lines?.update(data);
    this.best = data.strongest();
    this.plays(message);
  }

  protected arrange(): void {
    // As high as the tiles may be, so that the numbers below them are on the screen; else one has to scroll.
    for (const map of this.maps) {
      const room = roomBelow(this.maps[0].tiles.canvas) - BELOW * this.look.scale;
      const { beyond } = this.look;
      map.tallest = room < 20 ? 260 * beyond : Math.max(144 * beyond, Math.min(room, 0.44 * window.innerHeight));
    }
    const charts = this.parts.filter((part) => part instanceof LineChart);
    if (charts.length) {
      const beside = charts[0].root.parentElement;
      const spread = this.parts.find((part) => part instanceof Histogram && part.root.parentElement === beside);
      const high = spread ? spread.root.offsetHeight + BETWEEN * this.look.scale : 0;
      const within = (columns: number, taken: number): boolean => {
        beside?.classList.toggle("paired", columns > 1);
        const cells = charts.length + (spread && columns > 1 ? 1 : 0);
        const each = (roomBelow(charts[0].root) - taken) / Math.ceil(cells / columns);
        const tall = charts.map((chart) => chart.within(each - BETWEEN * this.look.scale, this.look));
        const wide = (beside?.clientWidth ?? 0) / columns >= NARROWEST * this.look.scale;
        return tall.every(Boolean) && (columns < 2 || (wide && each >= high));
      };
      // In a column, else side by side; the histogram is what one scrolls to first, then all.
      if (!within(1, high) && !within(2, 0)) within(1, 0);
    }
    this.redraw();
  }

  private build({ maps, curves, lines, histogram, image, per_class: perClass }: Message): void {
    this.maps = maps.map((_, number) => {
      return new CapsuleMap(
        number,
        (capsule) => this.point(capsule),
        (capsule) => this.choose(capsule === this.chosen ? null : capsule),
        (right, down) => this.step(right, down),
      );
    });
    const beside: Part[] = [
      ...(image ? [new Sight()] : []),
      ...(perClass ? [new ClassBars()] : []),
      ...curves.map((_, number) => new LineChart(number, (frame) => this.controls?.go(frame))),
    ];
    const below: Part[] = [];
    if (histogram) (curves.length && curves.length <= FEW ? beside : below).push(new Histogram());
    this.lines = lines.length ? new Lines() : null;
    this.parts = [...this.maps, ...beside, ...below];
    const roots = (parts: readonly Part[]): HTMLElement[] => parts.map(({ root }) => root);
    this.root.replaceChildren(
      this.player,
      ...(this.lines ? [this.lines.root] : []),
      element("div", { className: "maps" }, ...roots(this.maps), this.readout, ...roots(below)),
      ...(beside.length ? [element("div", { className: "beside" }, ...roots(beside))] : []),
    );
    this.root.classList.toggle("pair", maps.length > 1);
    this.root.classList.toggle("charted", curves.length > 0);
  }

  /** Controls for as many frames; a still has none. They stand where the link says, else where it all leads. */
  private plays({ frames, frame, acknowledged }: Message): void {
    const count = frames.length;
    if (this.controls && (this.controls.count !== count || count < 2)) {
      this.controls.destroy();
      this.controls.root.remove();
      this.controls = null;
    }
    if (count < 2) return;
    if (this.controls) {
      this.controls.place(this.controls.position);
    } else {
      const pace = Math.min(1000, WHOLE / count);
      this.controls = new PlayerControls({
        count,
        show: () => this.redraw(),
        name: (index) => this.data?.fields.frames[index] ?? "",
        hold: pace * 0.5,
        glide: pace * 0.5,
        rest: (left) => this.tell("frame", left),
        linked: () => this.message?.frame ?? null,
      });
      this.player.append(this.controls.root);
    }
    this.controls.stand(frame, acknowledged.frame);
  }

  get position(): number {
    return this.controls?.position ?? 0;
  }

  private redraw(): void {
    const { data, look } = this;
    if (this.hearing || !data || !this.root.clientWidth) return;
    const capsule = this.pointed ?? this.chosen ?? this.best;
    const marked: [number, string][] = [[this.chosen ?? this.best, look.theme.accent]];
    if (this.pointed !== null) marked.push([this.pointed, look.theme.text]);
    const now = this.maps.map((_, number) => data.at(number, this.position));
    const state: DrawState = { data, look, position: this.position, now, capsule, marked };
    for (const part of this.parts) part.draw(state);
    this.lines?.draw(data, this.position, capsule);
    this.say(state);
    this.root.dataset.ready = "true";
  }

  /** The capsule that is looked at, in words and numbers. */
  private say({ data, now, capsule }: DrawState): void {
    const [row, column, kind] = data.place(capsule);
    const values = data.fields.maps.map(({ symbol }, number) => `${symbol} = ${shown(now[number][capsule], 4)}`);
    const where = `capsule ${capsule}: row ${row} column ${column} type ${kind},  `;
    const said = [where, element("b", { textContent: values.join(",  ") })];
    if (this.pointed === null && this.chosen === null) said.push(`, ${data.superlative}. ${data.fields.hint}`);
    this.readout.replaceChildren(...said);
  }

  private point(capsule: number | null): void {
    if (capsule === this.pointed) return;
    this.pointed = capsule;
    if (!this.controls?.timer) this.redraw(); // while it plays, the next frame does
  }

  /** Select the capsule next to the selected one, or to the strongest. */
  private step(right: number, down: number): void {
    this.pointed = null; // the hand is at the keys
    if (this.data) this.choose(this.data.beside(this.chosen ?? this.best, right, down));
  }

  /** Select a capsule, or none. */
  private choose(capsule: number | null): void {
    this.chosen = capsule;
    this.redraw();
    if (this.shared.sends(capsule)) this.tell("capsule", capsule);
  }
}
