// T, on the board itself: a slider that answers while it is moved, in step with that of other boards of the group, and
// with the keys of the page (frontend/app/keys.ts).

import { element, quietOutput } from "./dom";
import { Later } from "./later";
import "./iterations-slider.css";

const REST = 250; // milliseconds without another T after which the place counts as chosen

/** Another T for all boards: by so many, or, of a group, the same, and whether it is left there. */
interface Turned {
  readonly by?: number;
  readonly group?: string;
  readonly value?: number;
  readonly rest?: boolean;
  readonly from?: IterationsSlider;
}

export class IterationsSlider {
  private readonly slider = element("input", { type: "range", min: "1", step: "1", "aria-label": "Iterations T" });
  private readonly number = quietOutput();
  readonly root = element(
    "label",
    { className: "rounds" },
    element("b", { textContent: "T" }),
    this.slider,
    this.number,
  );
  private readonly listening = new AbortController();
  private group = "";
  private readonly later = new Later(() => this.turn(true), REST);

  /** turned: hears another T, whether the visitor leaves it there, and whether it is this board that tells so. */
  constructor(private readonly turned: (rounds: number, rest: boolean, tells: boolean) => void) {
    this.slider.addEventListener("input", () => this.move(this.slider.valueAsNumber));
    window.addEventListener("capsviz:rounds", (event) => this.follow(event as CustomEvent<Turned>), {
      signal: this.listening.signal,
    });
  }

  get value(): number {
    return this.slider.valueAsNumber;
  }

  set value(rounds: number) {
    if (this.slider.max && rounds > Number(this.slider.max)) this.slider.max = String(rounds);
    this.slider.value = this.number.textContent = String(rounds);
  }

  /** Whether the visitor has just moved it. */
  get moving(): boolean {
    return this.later.waiting;
  }

  /** From 1 to so many, and with how many the model was trained; one only is no choice. */
  offer(most: number, trained: number | null, group: string): void {
    const { value } = this;
    this.slider.max = String(most);
    this.value = value;
    this.group = group;
    this.root.hidden = most < 2;
    this.root.title =
      trained === null ? "Iterations T" : `Iterations T (+ −); trained with ${trained}; another T needs no training.`;
  }

  private move(rounds: number): void {
    this.value = rounds;
    this.turn(false);
    this.later.soon();
  }

  /** Here, and on the other boards of the group. */
  private turn(rest: boolean): void {
    const { group, value } = this;
    this.turned(value, rest, true);
    if (!group) return;
    const detail: Turned = { group, value, rest, from: this };
    window.dispatchEvent(new CustomEvent("capsviz:rounds", { detail }));
  }

  /** A key of the page: the first board takes it, and those of its group follow. */
  private follow(event: CustomEvent<Turned>): void {
    const { by, group, value, rest = false, from } = event.detail;
    if (this.root.hidden || !this.root.isConnected) return;
    if (value !== undefined && from !== this && group === this.group) {
      this.value = value;
      this.turned(value, rest, false);
    } else if (by !== undefined && !event.defaultPrevented) {
      event.preventDefault();
      this.move(Math.max(1, Math.min(Number(this.slider.max), this.value + by)));
    }
  }

  close(): void {
    this.later.stop();
    this.listening.abort();
  }
}
