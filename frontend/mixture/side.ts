// What stands beside the plane: the algorithm with its numbers, a bar for each Gaussian, and how all of it came about.

import { AlgorithmLines } from "../core/algorithm-lines";
import { element, topOf } from "../core/dom";
import type { Look } from "../core/look";
import { shown } from "../core/numbers";
import { Bars } from "./bars";
import { Chart, type Curve, spanOf } from "./chart";
import { readMixture, readVotes } from "./reading";
import type { Frame, Run } from "./run";

const CHART = { least: 62, ordinary: 104, most: 190 }; // CSS pixels of the chart's height, in ordinary type
const LEAST = 1; // nats per point that the axis of the log-likelihood spans at least

interface SideScene {
  readonly look: Look;
  readonly run: Run;
  readonly frame: Frame;
  /** The mixture at the same half step, where the points are votes. */
  readonly beside: Frame | null;
  /** The half step, on the way and as it counts. */
  readonly position: number;
  readonly index: number;
  /** Whose numbers are written. */
  readonly point: number;
  /** Where the chart should end, in CSS pixels as `topOf`; null: wherever it comes to. */
  readonly bottom: number | null;
}

export class Side {
  private readonly lines = new AlgorithmLines();
  private readonly bars = new Bars();
  private readonly chart: Chart;
  private readonly words = element("figcaption");
  readonly root = element("div", { className: "side" });
  private colours: readonly string[] = [];

  /** go: to the half step that is chosen on the chart. */
  constructor(go: (frame: number) => void) {
    this.chart = new Chart(go);
    const chart = element("figure", { className: "chart" }, this.words, this.chart.canvas);
    this.root.append(this.lines.root, element("div", { className: "numbers" }, this.bars.root, chart));
  }

  /** lines: of the algorithm, in HTML. colours: of the Gaussians. */
  build(lines: readonly string[], colours: readonly string[]): void {
    this.lines.setLines(lines);
    this.colours = colours;
    this.bars.build(colours);
  }

  draw(scene: SideScene): void {
    const { run, frame, beside, index, point: i } = scene;
    const { lit, texts, label, symbol, more } = (run.routed ? readVotes : readMixture)(run, index, i);
    this.lines.pair.textContent = `i = point ${i + 1}`;
    this.lines.light(lit, texts);
    this.bars.draw(label, symbol, frame.strengths, beside?.strengths ?? null, more);
    if (run.routedFrames) this.activations(scene, run.routedFrames);
    else this.likelihood(scene);
  }

  private activations(scene: SideScene, frames: readonly Frame[]): void {
    const curves = this.colours.map((colour, k): Curve => ({
      values: frames.map(({ strengths }) => strengths?.[k] ?? null),
      colour,
    }));
    this.say("Activations a over the half steps", []);
    this.plot(scene, curves, [0, 1], "Activations of the parents over the half steps, from 0 to 1");
  }

  private likelihood(scene: SideScene): void {
    const { run, index, look } = scene;
    const { theme } = look;
    const per = 1 / run.points.length;
    const likelihood = run.mixture.map((step) => step.likelihood * per);
    const bound = run.mixture.map((step) => (step.bound === null ? null : step.bound * per));
    const now = bound[index];
    this.say("Log-likelihood per point", [
      [theme.text, "", shown(likelihood[index], 4)],
      [theme.muted, "its bound", now === null ? "…" : shown(now, 4)],
    ]);
    const curves = [
      { values: bound, colour: theme.muted, dashed: true },
      { values: likelihood, colour: theme.text },
    ];
    const [first, last] = [likelihood[0], likelihood.at(-1) ?? 0].map((value) => shown(value, 2));
    const span = spanOf([...likelihood, ...bound.filter((value) => value !== null)], LEAST);
    this.plot(scene, curves, span, `Log-likelihood per point over the half steps, from ${first} to ${last}`);
  }

  private plot(
    { look, position, bottom }: SideScene,
    curves: readonly Curve[],
    span: readonly [number, number],
    label: string,
  ): void {
    const { canvas } = this.chart;
    const [least, ordinary, most] = [CHART.least, CHART.ordinary, CHART.most].map((height) => height * look.scale);
    const height = bottom === null ? ordinary : Math.max(least, Math.min(most, bottom - topOf(canvas)));
    this.chart.resize(this.bars.root.clientWidth, height);
    canvas.setAttribute("aria-label", label);
    this.chart.draw({ look, curves, span, position });
  }

  /** The chart's title, and what its colours mean. */
  private say(title: string, keys: readonly (readonly [string, string, string])[]): void {
    this.words.replaceChildren(
      element("strong", { textContent: title }),
      ...keys.map(([colour, name, value]) =>
        element(
          "span",
          {},
          element("i", { className: "square", style: `background:${colour}` }),
          ` ${name} `,
          element("b", { textContent: value }),
        ),
      ),
    );
  }
}
