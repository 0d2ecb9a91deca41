// What a board is to its host: something that is made once in an element, hears of every message, tells what the visitor
// did, and is taken down with the element. A board knows no host.

import { element } from "./dom";
import type { PlayerControls } from "./player-controls";

/** What the visitor did, by a name that the board states, and with what value. */
export type Tell = (what: string, value: unknown) => void;

/** How often the host has acknowledged what the board told, by its name; a host by itself counts nothing. */
export type Acknowledged = Readonly<Record<string, number | undefined>>;

export interface Host {
  /** Where the board stands. */
  readonly parent: HTMLElement | ShadowRoot;
  /** Decides, by its size, how much of the board is on the screen; the board itself always does. */
  readonly page?: Element | null;
}

export abstract class Board<Message> {
  readonly root: HTMLElement;
  /** What the host said last. */
  protected message: Message | undefined;
  protected tell: Tell = () => undefined;
  protected controls: PlayerControls | null = null;
  private readonly watch = new ResizeObserver(() => this.message && this.layout());

  constructor({ parent, page }: Host, className: string) {
    this.root = element("section", { className });
    parent.append(this.root);
    this.watch.observe(this.root);
    if (page) this.watch.observe(page);
  }

  /** Take over what the host says. */
  hear(message: Message, tell: Tell): void {
    this.tell = tell;
    const before = this.message;
    this.message = message;
    this.update(message, before);
  }

  protected abstract update(message: Message, before: Message | undefined): void;

  /** Fit into the place as large as it now is, and draw. */
  protected abstract layout(): void;

  destroy(): void {
    this.watch.disconnect();
    this.controls?.destroy();
    this.root.remove();
  }
}

interface Place {
  readonly board: Board<unknown>;
  calls: number;
}

const places = new WeakMap<Node, Place>();

const FAILED = "This picture cannot be drawn here: reload the page, and if that does not help, try another browser.";

/** Gives an element's board a message; gives what takes the board down. */
export type Mount = (host: Host, message: object, tell: Tell) => () => void;

/** What makes a board of a kind in an element, unless there is one already, and gives it messages. */
export function mounting<Message>(Kind: new (host: Host) => Board<Message>): Mount {
  return (host, message, tell) => {
    let place = places.get(host.parent);
    try {
      place ??= { board: new Kind(host), calls: 0 };
      places.set(host.parent, place);
      place.board.hear(message, tell);
    } catch (error) {
      console.error(error); // the host might show all of it on the page
      place?.board.destroy();
      host.parent.replaceChildren(element("p", { className: "failed", role: "alert", textContent: FAILED }));
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
