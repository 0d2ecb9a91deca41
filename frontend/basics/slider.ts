// A slider with its name and its number, and when what it says is left alone.

import { element, quietOutput } from "../core/dom";

interface Range {
  readonly least: number;
  readonly most: number;
  readonly step: number;
  /** How the number is written. */
  readonly written: (value: number) => string;
  /** What it is called where it stands without a name. */
  readonly label: string;
}

export class Slider {
  readonly input: HTMLInputElement;
  private readonly output = quietOutput();
  readonly root: HTMLElement;

  constructor(
    name: string,
    private readonly range: Range,
    moved: (value: number) => void,
  ) {
    const { least, most, step, label } = range;
    this.input = element("input", {
      type: "range",
      min: String(least),
      max: String(most),
      step: String(step),
      "aria-label": label,
    });
    this.input.addEventListener("input", () => {
      this.value = this.input.valueAsNumber;
      moved(this.input.valueAsNumber);
    });
    const named = name ? [element("b", { textContent: name })] : [];
    this.root = element("label", { className: "slide" }, ...named, this.input, this.output);
  }

  set value(value: number) {
    this.input.value = String(value);
    this.output.textContent = this.range.written(value);
    this.input.setAttribute("aria-valuetext", this.output.textContent);
  }
}
