// A host that has no page around the board and asks nobody how to show it: a file of its own, or the output of a notebook's
// cell. What the visitor did is kept here, and comes back with the next message.

import type { Host, Mount } from "./board";
import { inkOn, type Theme } from "./colours";
import { button, element } from "./dom";
import { unpack } from "./message";
import "./standalone-host.css";
import { pngOf, svgOf } from "./picture";
import { save } from "./save";

const FIELD: Readonly<Record<string, string>> = { look: "looked", left: "state", lengths: "moved", rounds: "asked" }; // what is kept under another name

export class StandaloneHost {
  private readonly kept: Record<string, unknown> = {};
  private readonly place = element("div", { className: "board-place" });
  private readonly host: Host;
  private last: Uint8Array | undefined; // of what has colours
  private closed = false;
  private worn: Theme | undefined;
  private end = (): void => undefined;

  /** other: asked for the numbers of another class; name: of the files that its pictures are saved as; shared: what is the same
   *  in all messages. */
  constructor(
    private readonly mount: Mount,
    private readonly root: HTMLElement,
    private readonly other: (upper: number) => void,
    name: string,
    private readonly shared: Readonly<Record<string, unknown>> = {},
  ) {
    this.host = { parent: this.place };
    const svg = (): void => save(new Blob([svgOf(this.place, this.ground)], { type: "image/svg+xml" }), `${name}.svg`);
    const png = (): void => void pngOf(this.place, this.ground).then((picture) => save(picture, `${name}.png`));
    const files = element(
      "div",
      { className: "board-files" },
      button("SVG", "Save what the board shows as SVG", svg),
      button("PNG", "Save what the board shows as PNG", png),
    );
    root.classList.add("board-host");
    root.replaceChildren(this.place, files);
  }

  /** Draw in other colours than those of the messages. */
  wear(theme: Theme): void {
    this.worn = theme;
    if (this.last) this.say(this.last);
  }

  /** Give the board a packed message. */
  say(packed: Uint8Array): void {
    if (this.closed) return;
    const message: Record<string, unknown> = { ...this.shared, ...unpack(packed) };
    if (message.theme) {
      this.last = packed;
      message.theme = this.worn ?? message.theme;
      this.dress(message.theme as Theme);
    }
    this.end = this.mount(this.host, { ...message, ...this.kept, acknowledged: {} }, (what, value) => {
      if (what === "upper") this.other(value as number);
      else this.kept[FIELD[what] ?? what] = value;
    });
  }

  close(): void {
    this.closed = true;
    this.end();
  }

  private dress({ text, ground, accent }: Theme): void {
    const colours = { text, ground, accent };
    for (const [name, colour] of Object.entries(colours)) this.root.style.setProperty(`--${name}`, colour);
    this.root.style.colorScheme = inkOn(ground) === "#ffffff" ? "dark" : "light"; // for what the browser draws itself
  }

  private get ground(): string {
    return this.root.style.getPropertyValue("--ground");
  }
}
