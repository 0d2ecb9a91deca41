// The plane of one parent: the votes of all lower capsules for it, and its pose among them.

import type { Pen } from "../core/canvas";
import { inkOn } from "../core/colours";
import type { Look } from "../core/look";
import { arrow, disc, haloed, type Spot, strokeIn } from "../core/shapes";
import { SquarePlane } from "../core/square-plane";

interface PlaneState {
  readonly look: Look;
  /** Of the lower capsules. */
  readonly colours: readonly string[];
  /** Of the parent. */
  readonly colour: string;
  readonly name: string;
  readonly votes: readonly (readonly [number, number])[];
  readonly couplings: readonly number[];
  readonly pose: readonly number[];
  /** The vote that is held. */
  readonly held: number | null;
}

const SMALLEST = 0.72; // of arrows and handles, so that their numbers can be read
const ROOMY = 300; // CSS pixels of a plane from which on arrows and handles have their full size

export class Plane extends SquarePlane<PlaneState> {
  /** Against arrows and handles of a plane with room for them. */
  private get size(): number {
    return Math.max(SMALLEST, Math.min(1, this.width / ROOMY));
  }

  protected paint(pen: Pen, state: PlaneState): void {
    const { votes, couplings, colours, colour, held } = state;
    const { size } = this;
    const { theme, scale } = state.look;
    this.axes(pen, state.look);
    const thick = size * scale;
    const origin = this.place([0, 0]);
    const tip = this.place(state.pose);
    votes.forEach((vote, i) => arrow(pen, origin, this.place(vote), thick * (1.5 + 9 * couplings[i]), colours[i]));
    arrow(pen, origin, tip, thick * 9, colour, theme.ground);
    votes.forEach((vote, i) => handle(pen, this.place(vote), i, i === held, size, state));
    name(pen, origin, tip, state);
  }
}

/** A name beside the middle of an arrow, to the side that is up. */
function name(pen: Pen, from: Spot, tip: Spot, { look, name: text }: PlaneState): void {
  const [dx, dy] = [tip.x - from.x, tip.y - from.y];
  const aside = ((dx > 0 ? -24 : 24) * look.scale) / (Math.hypot(dx, dy) || 1);
  pen.font = look.type(20, "bold");
  pen.textBaseline = "middle";
  haloed(pen, text, from.x + 0.55 * dx - aside * dy, from.y + 0.55 * dy + aside * dx, look.theme, 5);
  pen.textBaseline = "alphabetic";
}

function handle(pen: Pen, { x, y }: Spot, i: number, held: boolean, size: number, { look, colours }: PlaneState): void {
  disc(pen, [x, y], (held ? 15 : 12) * size * look.scale, colours[i]);
  strokeIn(pen, look.theme.ground, 2);
  pen.stroke();
  pen.font = look.type(15 * size, "bold");
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = inkOn(colours[i]);
  pen.fillText(String(i + 1), x, y + 1);
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
}
