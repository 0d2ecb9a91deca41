// The votes in the hand, by pointer and by keys: each parent's plane has them all, of which one is chosen.

import { ARROWS, heldByFinger, stepped, worked } from "../core/dom";
import { keyOf } from "../core/key";
import type { Plane } from "./plane";
import type { Votes } from "./routing";

const NEAR = 26; // CSS pixels from a vote's tip at which it can be taken, in ordinary type
const DECIMALS = 2; // of a vote's coordinates

export interface Holder {
  /** The votes as they are on screen. */
  readonly seen: Votes;
  readonly reach: number;
  readonly scale: number;
  /** The hand has a vote: what moved by itself ends, as it stands. */
  taken(): void;
  /** A vote for a parent is elsewhere; rest: the visitor leaves it there. */
  move(i: number, j: number, to: [number, number], rest: boolean): void;
  /** Another vote is chosen, or the held one is let go where it is. */
  changed(rest: boolean): void;
}

export class Hand {
  /** By parent, the vote that keys move; it is drawn as held while the plane has the focus, which Tab gives it. */
  private readonly chosen: number[] = [];
  private held: { readonly i: number; readonly j: number } | null = null;

  constructor(private readonly holder: Holder) {}

  get busy(): boolean {
    return this.held !== null;
  }

  /** The vote in the hand on a parent's plane. */
  on(j: number, plane: Plane): number | null {
    if (this.held) return this.held.j === j ? this.held.i : null;
    return plane.canvas.matches(":focus") ? this.choice(j) : null;
  }

  /** Take votes from a parent's plane. */
  take(j: number, plane: Plane): void {
    const { canvas } = plane;
    worked(canvas);
    canvas.title = "Drag a vote; by keys: N the next one, arrows move it, with shift farther";
    canvas.onmousedown = (event) => event.preventDefault(); // behind a drag, arrows stay the player's
    canvas.onpointerdown = (event) => event.button === 0 && this.grab(j, plane, event);
    canvas.onpointermove = (event) => this.drag(j, plane, event);
    canvas.onpointerup = canvas.onpointercancel = () => this.drop();
    canvas.onfocus = canvas.onblur = () => this.holder.changed(false);
    canvas.onkeydown = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.key(j, event)) return;
      event.preventDefault();
      event.stopPropagation(); // an arrow moves the vote, not the player
    };
    heldByFinger(canvas, () => this.held !== null);
  }

  /** The chosen vote of a plane, of those that there are. */
  private choice(j: number): number {
    return Math.min(this.chosen[j] ?? 0, this.holder.seen.length - 1);
  }

  private grab(j: number, plane: Plane, event: PointerEvent): void {
    const { holder } = this;
    let best = NEAR * holder.scale * (event.pointerType === "touch" ? 1.5 : 1);
    holder.seen.forEach((vote, i) => {
      const { x, y } = plane.place(vote[j]);
      const far = Math.hypot(event.offsetX - x, event.offsetY - y);
      if (far < best) [best, this.held] = [far, { i, j }];
    });
    if (!this.held) return;
    this.chosen[j] = this.held.i;
    plane.canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
    holder.taken();
    holder.changed(false);
  }

  private drag(j: number, plane: Plane, event: PointerEvent): void {
    if (this.held?.j !== j) return;
    const { reach } = this.holder;
    const limit = (value: number): number => Math.round(100 * Math.max(-reach, Math.min(reach, value))) / 100;
    const [x, y] = plane.vector(event.offsetX, event.offsetY);
    this.holder.move(this.held.i, j, [limit(x), limit(y)], false);
  }

  private drop(): void {
    if (!this.held) return;
    this.held = null;
    this.holder.changed(true);
  }

  private key(j: number, event: KeyboardEvent): boolean {
    const { holder } = this,
      { shiftKey } = event,
      key = keyOf(event);
    const i = this.choice(j);
    if (Object.hasOwn(ARROWS, key)) {
      holder.taken();
      holder.move(i, j, stepped(holder.seen[i][j], event, { decimals: DECIMALS, reach: holder.reach }), true);
    } else if (key === "n") {
      const { length } = holder.seen;
      this.chosen[j] = (i + (shiftKey ? length - 1 : 1)) % length;
      holder.changed(false);
    } else {
      return false;
    }
    return true;
  }
}
