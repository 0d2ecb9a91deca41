// A picture over frames that lie side by side; a pointer goes to the one that is nearest.

import { minIndex } from "d3-array";

import { Panel } from "./canvas";
import { pointed } from "./dom";

export abstract class ScrubbedPanel<Shown> extends Panel<Shown> {
  constructor(private readonly go: (frame: number) => void) {
    super();
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.canvas.setPointerCapture(event.pointerId);
      this.scrub(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.canvas.hasPointerCapture(event.pointerId)) this.scrub(event); // it began here
    });
  }

  /** Where each frame lies, in CSS pixels from the left. */
  protected abstract places(shown: Shown): readonly number[];

  private scrub(event: PointerEvent): void {
    if (!this.shown) return;
    const [at] = pointed(this.canvas, event);
    this.go(minIndex(this.places(this.shown), (x) => Math.abs(x - at)));
  }
}
