// The margin loss in the hand: margins on sliders, every class capsule's length, what each costs, which way it is pushed.

import { aloud } from "../core/aloud";
import { Board, type Acknowledged, type Host } from "../core/board";
import { inkOn, type Theme } from "../core/colours";
import { button, element, enable, heldByFinger, pointed, quietOutput, roomBelow, tabled } from "../core/dom";
import { shown } from "../core/numbers";
import { SharedValue } from "../core/shared-value";
import "./basics.css";
import { marginGradient, marginLoss, type Margins } from "./margin";
import { MarginChart } from "./margin-chart";
import { Later } from "../core/later";
import { Slider } from "./slider";

const GAP = 25; // CSS pixels between chart and table, and one that widths are rounded by
const BELOW = 110; // CSS pixels that stay free below the board, in ordinary type
const SMALLEST = 260; // CSS pixels of the chart's height

const RANGE = { least: 0, most: 1, step: 0.01, written: (value: number) => shown(value, 2) };

interface Message {
  /** As they stand, and as the networks were trained. */
  readonly margins: Margins;
  readonly usual: Margins;
  /** Classes that were given a length, and which. */
  readonly moved: readonly (readonly [number, number])[];
  readonly classes: readonly string[];
  /** Whether each is in the image. */
  readonly targets: readonly boolean[];
  readonly theme: Theme;
  /** ‖v‖ of every class capsule, as the network has it. */
  readonly lengths: Float32Array;
  readonly acknowledged: Acknowledged;
}

interface Row {
  readonly root: HTMLElement;
  readonly slider: Slider;
  readonly loss: HTMLElement;
  readonly push: HTMLElement;
}

export class MarginBoard extends Board<Message> {
  margins: Margins = [0, 0, 0];
  private moved = new Map<number, number>();
  private held: number | null = null;
  private readonly sharedMargins = new SharedValue();
  private sharedMoved = new SharedValue();
  private readonly later = new Later(() => this.leave());
  private readonly chart = new MarginChart("held");
  private readonly sum = aloud(quietOutput("sum"));
  private readonly table = element("table");
  private readonly reset = button("As trained", "The margins of training, the lengths that the network has", () =>
    this.start(),
  );
  private readonly sliders: Slider[];
  private readonly side = element("div", { className: "side" }, this.table, this.sum);
  private readonly sliderRow: HTMLElement;
  private rows: Row[] = [];

  constructor(host: Host) {
    super(host, "basics margin");
    const { canvas } = this.chart;
    heldByFinger(canvas, () => this.held !== null);
    canvas.onpointerdown = (event) => {
      if (event.button !== 0) return;
      this.held = this.chart.near(...pointed(canvas, event), event.pointerType === "touch" ? 1.5 : 1);
      if (this.held === null) return;
      canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
      this.layout();
    };
    canvas.onpointermove = (event) => {
      if (this.held !== null) this.move(this.held, this.chart.length(pointed(canvas, event)[0]));
    };
    canvas.onpointerup = canvas.onpointercancel = () => {
      if (this.held === null) return;
      this.held = null;
      this.layout();
      this.later.now();
    };
    this.sliders = [
      ["m⁺", "m⁺, how long a class that is there should be"],
      ["m⁻", "m⁻, how long a class that is not there may be"],
      ["λ", "λ, what a class that is not there counts"],
    ].map(
      ([name, label], k) => new Slider(name, { ...RANGE, label }, (value) => this.turn(this.margins.with(k, value))),
    );
    this.sliderRow = element("div", { className: "controls" }, ...this.sliders.map(({ root }) => root), this.reset);
    this.root.append(element("div", { className: "pictures" }, this.chart.canvas, this.side), this.sliderRow);
  }

  protected update(data: Message, before: Message | undefined): void {
    const { acknowledged } = data;
    if (this.turned("lengths", data, before)) this.sharedMoved = new SharedValue();
    const busy = this.held !== null || this.later.waiting;
    if (this.sharedMargins.takes(data.margins, acknowledged.margins, busy)) this.margins = data.margins;
    if (this.sharedMoved.takes(data.moved, acknowledged.lengths, busy)) this.moved = new Map(data.moved);
    if (before?.classes.join() !== data.classes.join() || before.targets.join() !== data.targets.join()) {
      this.build(data);
    }
  }

  private build({ classes, targets, theme }: Message): void {
    this.rows = classes.map((name, j) => {
      const slider = new Slider("", { ...RANGE, label: `Length of class ${name}` }, (value) => {
        this.move(j, value);
        this.later.soon();
      });
      const colour = theme.classes[j];
      const chip = element("span", {
        className: "chip",
        textContent: name,
        title: name,
        style: `background:${colour};color:${inkOn(colour)}`,
      });
      const [loss, push] = [element("td"), element("td")];
      const here = targets[j] ? [element("b", { textContent: " ◂", title: "in the image" })] : [];
      const root = element("tr", {}, element("th", { scope: "row" }, chip, ...here), element("td", {}, slider.root));
      root.append(loss, push);
      return { root, slider, loss, push };
    });
    const heads = ["class", "length ‖v‖", "loss", "training"];
    this.table.replaceChildren(...tabled(heads, ...this.rows.map(({ root }) => root)));
  }

  /** The lengths as they now are. */
  get lengths(): number[] {
    return Array.from(this.message?.lengths ?? [], (own, j) => this.moved.get(j) ?? own);
  }

  private move(j: number, length: number): void {
    this.moved.set(j, Math.round(100 * length) / 100);
    this.layout();
  }

  private turn(margins: number[]): void {
    this.margins = margins as unknown as Margins;
    this.layout();
    this.later.soon();
  }

  private start(): void {
    if (!this.message) return;
    this.margins = this.message.usual;
    this.moved.clear();
    this.layout();
    this.later.now();
  }

  private leave(): void {
    if (this.sharedMargins.sends(this.margins)) this.tell("margins", this.margins);
    const moved = [...this.moved].sort(([a], [b]) => a - b);
    if (this.sharedMoved.sends(moved)) this.tell("lengths", moved);
  }

  protected arrange(message: Message): void {
    const { look, margins, lengths, held } = this;
    const whole = this.root.clientWidth;
    this.write(message);
    const wide = whole > 720;
    this.side.style.flexBasis = wide ? "26rem" : "100%";
    const beside = wide ? this.side.offsetWidth + GAP : 0;
    const room = roomBelow(this.root) - this.sliderRow.offsetHeight - BELOW * look.scale;
    const height = Math.max(SMALLEST, Math.min(room, Math.max(this.side.offsetHeight, 0.6 * whole)));
    this.chart.resize(whole - beside, wide ? height : 320);
    const { classes, targets, lengths: own } = message;
    this.chart.draw({ look, margins, classes, targets, lengths, own, held });
  }

  /** The numbers of every class, and their sum. */
  private write({ classes, targets, usual }: Message): void {
    const { lengths, margins } = this;
    let sum = 0;
    this.rows.forEach(({ slider, loss, push }, j) => {
      const cost = marginLoss(lengths[j], targets[j], margins);
      const gradient = marginGradient(lengths[j], targets[j], margins);
      sum += cost;
      slider.value = lengths[j];
      loss.textContent = shown(cost, 4);
      push.textContent = gradient ? (gradient < 0 ? "longer →" : "← shorter") : "lets go";
    });
    this.sliders.forEach((slider, k) => (slider.value = margins[k]));
    this.sum.textContent = `Sum over the classes: ${shown(sum, 4)}`;
    enable(this.reset, this.moved.size > 0 || margins.some((value, k) => value !== usual[k]));
    const label = `Margin loss of ${classes.length} classes, ${shown(sum, 4)} in all`;
    this.chart.canvas.setAttribute("aria-label", label);
  }

  override destroy(): void {
    this.later.stop();
    super.destroy();
  }
}
