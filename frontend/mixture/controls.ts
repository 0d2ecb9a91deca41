// What the visitor chooses beside the points: which of them, how many Gaussians, of what form, and what routing is given.

import { button, element, quietOutput } from "../core/dom";
import { shown } from "../core/numbers";
import type { State } from "./run";

/** What may be chosen, as the host says it. */
export interface Offer {
  readonly presets: readonly { readonly name: string; readonly title: string; readonly gaussians: number }[];
  readonly starts: readonly object[];
  /** How many draws of a preset there are. */
  readonly draws: number;
  readonly temperatures: readonly number[];
  /** How far β_u and β_a go from 0. */
  readonly beta: number;
}

interface Choice {
  readonly made: HTMLButtonElement;
  readonly on: (state: State) => boolean;
}

interface Knob {
  readonly root: HTMLElement;
  readonly slider: HTMLInputElement;
  readonly output: HTMLElement;
}

type Change = (change: Partial<State>, rest: boolean) => void;

export class Controls {
  readonly reading = element("div", { className: "tools reading", role: "group", "aria-label": "What the points are" });
  readonly tools = element("div", { className: "tools" });
  readonly knobs = element("div", { className: "knobs" });
  private readonly choices: Choice[] = [];
  private readonly covariance: HTMLElement;
  private readonly even: HTMLElement;
  private readonly temperature: Knob;
  private readonly betaU: Knob;
  private readonly betaA: Knob;
  private readonly activation: Knob;
  private readonly activationName = element("b");
  private offer: Offer;

  /** change: takes over a choice; activate: another a_i of the chosen point, or of all. */
  constructor(offer: Offer, change: Change, activate: (value: number, rest: boolean) => void, state: () => State) {
    this.offer = offer;
    const choice = (
      text: string,
      title: string,
      changes: () => Partial<State>,
      on: Choice["on"],
    ): HTMLButtonElement => {
      const made = button(text, title, () => change(changes(), true));
      this.choices.push({ made, on });
      return made;
    };
    const label = (text: string, ...buttons: Node[]): HTMLElement =>
      element("span", { className: "group", role: "group", "aria-label": text }, `${text} `, ...buttons);
    const never = (): boolean => false;
    this.reading.append(
      choice(
        "A mixture of Gaussians",
        "Fit Gaussians to the points",
        () => ({ votes: false }),
        ({ votes }) => !votes,
      ),
      choice(
        "The points are votes",
        "Route the points by EM",
        () => ({ votes: true }),
        ({ votes }) => votes,
      ),
    );
    const presets = offer.presets.map(({ name, title, gaussians }) =>
      choice(
        title,
        `Points: ${title}`,
        () => ({ preset: name, points: null, gaussians, point: null }),
        ({ preset, points }) => preset === name && !points,
      ),
    );
    const counts = Object.keys(offer.starts[0]).map(Number);
    const number = counts.map((count) =>
      choice(
        String(count),
        `${count} Gaussians`,
        () => ({ gaussians: count }),
        ({ gaussians }) => gaussians === count,
      ),
    );
    const covariances = (["full", "diag"] as const).map((kind) =>
      choice(
        kind === "full" ? "full" : "diagonal",
        kind === "full" ? "Ellipses may turn" : "Ellipses keep to the axes of the plane",
        () => ({ covariance: kind }),
        ({ covariance }) => covariance === kind,
      ),
    );
    const turn = (): Partial<State> => ({ turn: (state().turn + 1) % offer.starts.length });
    const draw = (): Partial<State> => ({ seed: (state().seed + 1) % this.offer.draws, points: null, point: null });
    this.tools.append(
      ...presets,
      ...(offer.draws > 1 ? [choice("Draw again", "The same rule, another seed", draw, never)] : []),
      choice("Another start", "The circle of the first means, turned", turn, never),
    );
    this.covariance = label("covariance", ...covariances);
    this.even = choice(
      "Begin with R = 1 / J",
      "As a network begins: with votes that parents share, none ever differs from another",
      () => ({ even: !state().even }),
      (now) => now.even,
    );
    this.reading.append(label("Gaussians", ...number), this.covariance, this.even);
    this.temperature = this.knob("λ rises to", "high: a is 0 or 1", [0, offer.temperatures.length - 1, 1], (at, rest) =>
      change({ temperature: this.offer.temperatures[at] }, rest),
    );
    const betas = [-offer.beta, offer.beta, 0.1] as const;
    const tenths = (value: number): number => Number(value.toFixed(1)) || 0;
    this.betaU = this.knob("βᵤ", "high: each vote costs more", betas, (value, rest) =>
      change({ beta_u: tenths(value) }, rest),
    );
    this.betaA = this.knob("βₐ", "high: on even at a high cost", betas, (value, rest) =>
      change({ beta_a: tenths(value) }, rest),
    );
    this.activation = this.knob(this.activationName, "0: the vote does not count", [0, 1, 0.05], (value, rest) =>
      activate(Number(value.toFixed(2)), rest),
    );
    this.knobs.append(...[this.temperature, this.betaU, this.betaA, this.activation].map(({ root }) => root));
  }

  private knob(
    name: string | HTMLElement,
    says: string,
    [low, high, step]: readonly [number, number, number],
    moved: (value: number, rest: boolean) => void,
  ): Knob {
    const slider = element("input", { type: "range" });
    Object.assign(slider, { min: String(low), max: String(high), step: String(step) });
    slider.addEventListener("input", () => moved(slider.valueAsNumber, false));
    slider.addEventListener("change", () => moved(slider.valueAsNumber, true));
    const output = quietOutput();
    const title = typeof name === "string" ? element("b", { textContent: name }) : name;
    if (typeof name === "string") slider.setAttribute("aria-label", name);
    return {
      root: element("label", { className: "knob" }, title, slider, output, element("small", {}, says)),
      slider,
      output,
    };
  }

  /** Whether a hand holds a knob. */
  get held(): boolean {
    return this.knobs.querySelector("input:active") !== null;
  }

  /** Show what is chosen; activation: a_i of the chosen point, or of all, null where they differ. */
  update(state: State, offer: Offer, activation: number | null): void {
    this.offer = offer;
    for (const { made, on } of this.choices) made.setAttribute("aria-pressed", String(on(state)));
    this.covariance.hidden = state.votes; // in routing they are diagonal
    this.even.hidden = this.knobs.hidden = !state.votes;
    this.temperature.slider.max = String(offer.temperatures.length - 1);
    const at = offer.temperatures.indexOf(state.temperature);
    this.set(this.temperature, at, String(state.temperature));
    this.set(this.betaU, state.beta_u, shown(state.beta_u, 1));
    this.set(this.betaA, state.beta_a, shown(state.beta_a, 1));
    const whose = state.point === null ? "aᵢ of all points" : `aᵢ of point ${state.point + 1}`;
    this.activationName.textContent = whose;
    this.activation.slider.setAttribute("aria-label", whose);
    this.set(this.activation, activation ?? 1, activation === null ? "mixed" : shown(activation, 2));
  }

  private set({ slider, output }: Knob, value: number, text: string): void {
    slider.value = String(value);
    output.textContent = text;
    slider.setAttribute("aria-valuetext", text);
  }
}
