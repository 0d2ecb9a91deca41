// A picture over frames that lie side by side; a pointer goes to the one that is nearest.

import { minIndex } from "d3-array";

import { Panel } from "./canvas";
import { isTap, pointed } from "./dom";

export abstract class ScrubbedPanel<Shown> extends Panel<Shown> {
  /** Where a finger came down that may yet move the page. */
  private down: PointerEvent | null = null;

  constructor(private readonly go: (frame: number) => void) {
    super();
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.canvas.setPointerCapture(event.pointerId);
      this.down = event.pointerType === "touch" ? event : null;
      if (!this.down) this.scrub(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!this.canvas.hasPointerCapture(event.pointerId)) return; // it began elsewhere
      const { down } = this;
      if (down && Math.abs(event.clientX - down.clientX) <= Math.abs(event.clientY - down.clientY)) return;
      this.down = null;
      this.scrub(event);
    });
    this.canvas.addEventListener("click", (event) => isTap(event) && this.scrub(event));
  }

  /** Where each frame lies, in CSS pixels from the left. */
  protected abstract places(shown: Shown): readonly number[];

  private scrub(event: MouseEvent): void {
    if (!this.shown) return;
    const [at] = pointed(this.canvas, event);
    this.go(minIndex(this.places(this.shown), (x) => Math.abs(x - at)));
  }
}
