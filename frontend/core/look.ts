// How a board draws: the colours of the page and the type of the place where it stands.

import { ColourTable, type Theme } from "./colours";

const FULL = 1.725; // the scale of a page that is presented 1920 pixels wide

export class Look {
  readonly diverging: ColourTable;
  readonly sequential: ColourTable;
  /** Larger than 1 where the page's type is larger than ordinary. */
  scale = 1;
  private family = "";

  /** place: whose type it draws in; ordinary: that type's size in pixels on an ordinary page. */
  constructor(
    readonly theme: Theme,
    private readonly place: Element,
    private readonly ordinary: number,
  ) {
    this.diverging = new ColourTable(theme.diverging);
    this.sequential = new ColourTable(theme.sequential);
    this.measure();
  }

  /** Take the type that the place has at the moment: presenter mode enlarges it under a board that stands. */
  measure(): void {
    const { fontSize, fontFamily } = getComputedStyle(this.place);
    this.scale = parseFloat(fontSize) / this.ordinary;
    this.family = fontFamily;
  }

  /** By how much lengths in pixels grow that suit windows of up to 1920. */
  get beyond(): number {
    return Math.max(1, this.scale / FULL);
  }

  /** A font of so many pixels in ordinary type. */
  type(size: number, weight: "" | "bold" | "600" = ""): string {
    return `${weight} ${(size * this.scale).toFixed(1)}px ${this.family}`.trimStart();
  }
}
