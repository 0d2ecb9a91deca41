// Squash in the hand: a vector s that is dragged, v = squash(s), and where the class capsules of an image lie.

import { aloud } from "../core/aloud";
import { Board, type Acknowledged, type Host } from "../core/board";
import type { Theme } from "../core/colours";
import { element, heldByFinger, isTap, pointed, roomBelow } from "../core/dom";
import { indices, shown } from "../core/numbers";
import { SharedValue } from "../core/shared-value";
import { squashed } from "../core/vectors";
import { isolated } from "../core/letters";
import "./basics.css";
import { Later } from "../core/later";
import { Slider } from "./slider";
import { SquashCurve, VectorPlane, type SquashState } from "./squash-panels";

const GAP = 25; // CSS pixels between the pictures, and one that widths are rounded by
const SMALLEST = 260; // CSS pixels of the plane
const DEGREES = 180 / Math.PI;
const NEAR = 40; // CSS pixels from the tip of s at which a finger holds it

interface Message {
  /** Length of s, and its angle in degrees. */
  readonly vector: readonly [number, number];
  readonly longest: number;
  readonly classes: readonly string[];
  /** What the image is called. */
  readonly title: string;
  readonly theme: Theme;
  /** ‖s‖ and ‖v‖ of its class capsules. */
  readonly sums: Float32Array;
  readonly lengths: Float32Array;
  readonly acknowledged: Acknowledged;
}

export class SquashBoard extends Board<Message> {
  private length = 0;
  private angle = 0; // in degrees
  private held = false;
  private readonly shared = new SharedValue();
  private readonly later = new Later(() => this.leave());
  private readonly plane = new VectorPlane("held");
  private readonly curve = new SquashCurve();
  private readonly says = aloud(element("p", { className: "says" }));
  private readonly capsules = element("p", { className: "capsules" });
  private sliders: Slider[] = [];
  private readonly sliderRow = element("div", { className: "controls" });

  constructor(host: Host) {
    super(host, "basics squash");
    const { canvas } = this.plane;
    canvas.onpointerdown = (event) => {
      if (event.button !== 0) return;
      if (event.pointerType === "touch" && !this.near(event)) return; // it may move the page
      canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
      this.held = true;
      this.drag(event);
    };
    canvas.onpointermove = (event) => this.held && this.drag(event);
    canvas.onclick = (event) => {
      if (!isTap(event)) return;
      this.drag(event);
      this.later.now();
    };
    heldByFinger(canvas, () => this.held);
    canvas.onpointerup = canvas.onpointercancel = () => {
      this.held = false;
      this.layout();
      this.later.now();
    };
    this.root.append(
      element("div", { className: "pictures" }, this.plane.canvas, this.curve.canvas),
      this.sliderRow,
      this.says,
      this.capsules,
    );
  }

  protected update(data: Message, before: Message | undefined): void {
    if (before?.longest !== data.longest) this.offer(data.longest);
    const busy = this.held || this.later.waiting;
    if (this.shared.takes(data.vector, data.acknowledged.vector, busy)) this.take(...data.vector);
    const order = indices(data.classes.length).sort((a, b) => data.lengths[b] - data.lengths[a]);
    const told = order.slice(0, 3).map((j) => {
      return `${isolated(data.classes[j])}: ${shown(data.sums[j], 2)} → ${shown(data.lengths[j], 2)}`;
    });
    this.capsules.textContent = `Small circles: the class capsules of ${data.title}. Longest ${told.join(",  ")}.`;
  }

  private offer(longest: number): void {
    const length = { least: 0, most: longest, step: 0.01, label: "Length of s" };
    const angle = { least: -180, most: 180, step: 1, label: "Direction of s in degrees" };
    this.sliders = [
      new Slider("‖s‖", { ...length, written: (value) => shown(value, 2) }, (to) => this.move(to, this.angle)),
      new Slider("direction", { ...angle, written: (value) => `${shown(value, 0)}°` }, (to) =>
        this.move(this.length, to),
      ),
    ];
    this.sliderRow.replaceChildren(...this.sliders.map(({ root }) => root));
  }

  /** Whether an event is at the tip of s. */
  private near(event: PointerEvent): boolean {
    const angle = this.angle / DEGREES;
    const { x, y } = this.plane.place([this.length * Math.cos(angle), this.length * Math.sin(angle)]);
    const [left, top] = pointed(this.plane.canvas, event);
    return Math.hypot(left - x, top - y) < NEAR * this.look.scale;
  }

  private drag(event: MouseEvent): void {
    if (!this.message) return;
    const [x, y] = this.plane.vector(...pointed(this.plane.canvas, event));
    const length = Math.min(this.message.longest, Math.hypot(x, y));
    this.take(Math.round(100 * length) / 100, Math.round(Math.atan2(y, x) * DEGREES));
    this.layout();
  }

  private move(length: number, angle: number): void {
    this.take(length, angle);
    this.layout();
    this.later.soon();
  }

  private take(length: number, angle: number): void {
    [this.length, this.angle] = [length, angle];
    const [far, turn] = this.sliders;
    [far.value, turn.value] = [length, angle];
  }

  private leave(): void {
    const vector = [this.length, this.angle];
    if (this.shared.sends(vector)) this.tell("vector", vector);
  }

  protected arrange({ longest, classes, sums, lengths }: Message): void {
    const { look, length, angle } = this;
    const whole = this.root.clientWidth;
    const wide = whole > 640;
    const below = this.sliderRow.offsetHeight + this.says.offsetHeight + this.capsules.offsetHeight + 60;
    const room = roomBelow(this.root) - below;
    const side = wide ? Math.round(Math.max(SMALLEST, Math.min(0.42 * whole, room))) : Math.min(whole, 330);
    this.plane.fit(side, 1.08 * longest);
    this.curve.resize(wide ? whole - side - GAP : whole, side);
    const scene: SquashState = {
      ...{ look, length, longest, classes, sums, lengths },
      angle: angle / DEGREES,
      held: this.held,
    };
    const after = shown(squashed(length), 2);
    this.plane.canvas.setAttribute("aria-label", `s of length ${shown(length, 2)} and v of length ${after}`);
    this.plane.draw(scene);
    this.curve.draw(scene);
    const end =
      length < 0.5 ? "a short vector nearly vanishes" : length > 2 ? "a long one ends just below 1" : "in between";
    this.says.replaceChildren(
      element("b", { textContent: `‖s‖ = ${shown(length, 2)} → ‖v‖ = ${after}` }),
      `: ${end}. Both point to ${shown(angle, 0)}°: squash keeps the direction.`,
    );
  }

  override destroy(): void {
    this.later.stop();
    super.destroy();
  }
}
