// What a board is to its host: something that is made once in an element, hears of every message, tells what the visitor
// did, and is taken down with the element. A board knows no host.

import "./board.css";
import type { Theme } from "./colours";
import { element, onResolution } from "./dom";
import { Look } from "./look";
import type { PlayerControls } from "./player-controls";

/** What the visitor did, by a name that the board states, and with what value. */
export type Tell = (what: string, value: unknown) => void;

/** How often the host has acknowledged what the board told, by its name; a host by itself counts nothing. */
export type Acknowledged = Readonly<Record<string, number | undefined>>;

/** By what a board tells, the view that it belongs to: once the host says another, what waits to be told is void. */
export type Belongs = Readonly<Record<string, string | undefined>> | undefined;

export interface Host {
  /** Where the board stands. */
  readonly parent: HTMLElement | ShadowRoot;
  /** Decides, by its size, how much of the board is on the screen; the board itself always does. */
  readonly page?: Element | null;
}

/** What every message to a board has. */
interface Themed {
  readonly theme: Theme;
  readonly of?: Belongs;
}

export abstract class Board<Message extends Themed> {
  readonly root: HTMLElement;
  /** What the host said last, and in which colours and type that is drawn. */
  protected message: Message | undefined;
  protected look!: Look;
  protected tell: Tell = () => undefined;
  protected controls: PlayerControls | null = null;
  /** While a message is taken over, what is laid out waits: it is drawn once, at the end. */
  protected hearing = false;
  private readonly watch = new ResizeObserver(() => this.layout());
  private readonly resizing = new AbortController();

  /** ordinary: pixels of the board's type on an ordinary page. */
  constructor(
    { parent, page }: Host,
    className: string,
    private readonly ordinary = 16,
  ) {
    this.root = element("section", { className: `capsviz ${className}`, translate: false, dir: "ltr" });
    Object.assign(this.root, { capsvizBoard: this }); // for tests and measurements
    parent.append(this.root);
    this.watch.observe(this.root);
    if (page) this.watch.observe(page);
    // Another height of the window, or a screen with other pixels, leaves the board as wide as it was.
    const { signal } = this.resizing;
    window.addEventListener("resize", () => this.layout(), { signal });
    onResolution(() => this.layout(), signal);
  }

  /** Take over what the host says. */
  hear(message: Message, tell: Tell): void {
    this.tell = tell;
    const before = this.message;
    this.message = message;
    this.look = new Look(message.theme, this.root, this.ordinary);
    this.hearing = true;
    try {
      this.update(message, before);
    } finally {
      this.hearing = false;
    }
    this.layout();
  }

  protected abstract update(message: Message, before: Message | undefined): void;

  /** Whether what the board tells belongs to another view than before. */
  protected turned(what: string, message: Message, before: Message | undefined): boolean {
    return before !== undefined && before.of?.[what] !== message.of?.[what];
  }

  /** Fit into the place as large as it now is, and draw; not before there is something to show. */
  protected layout(): void {
    if (this.hearing || !this.message || !this.root.clientWidth) return;
    this.look.measure();
    this.arrange(this.message);
  }

  protected abstract arrange(message: Message): void;

  destroy(): void {
    this.watch.disconnect();
    this.resizing.abort();
    this.controls?.destroy();
    this.root.remove();
  }
}

interface Place {
  readonly board: Board<Themed>;
  calls: number;
}

const places = new WeakMap<Node, Place>();

const FAILED = "This picture cannot be drawn here: reload the page, and if that does not help, try another browser.";

/** Gives an element's board a message; gives what takes the board down. */
export type Mount = (host: Host, message: object, tell: Tell) => () => void;

/** What makes a board of a kind in an element, unless there is one already, and gives it messages. */
export function mounting<Message extends Themed>(Kind: new (host: Host) => Board<Message>): Mount {
  return (host, message, tell) => {
    let place = places.get(host.parent);
    try {
      if (!place) host.parent.querySelector(".failed")?.remove();
      place ??= { board: new Kind(host), calls: 0 };
      places.set(host.parent, place);
      place.board.hear(message as Message, tell);
    } catch (error) {
      console.error(error); // the host might show all of it on the page
      place?.board.destroy();
      for (const each of [...host.parent.children]) if (each.matches(".capsviz, .failed")) each.remove(); // styles stay
      host.parent.append(element("p", { className: "failed", role: "alert", textContent: FAILED }));
      places.delete(host.parent);
      return () => undefined;
    }
    const call = ++place.calls;
    // A host may also run what a call that was overtaken gave: only the latest may take anything down.
    return () => {
      if (place.calls !== call || places.get(host.parent) !== place) return;
      place.board.destroy();
      places.delete(host.parent);
    };
  };
}
