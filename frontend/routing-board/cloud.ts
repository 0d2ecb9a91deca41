// The votes for the chosen class, and the class among them: flat, or turned in three dimensions.

import { ticks as ticksBetween } from "d3-array";
import { polygonContains } from "d3-polygon";
import { scaleLinear } from "d3-scale";

import { Panel, type Pen } from "../core/canvas";
import { heldByFinger, pointed, takenArrow, worked } from "../core/dom";
import type { Look } from "../core/look";
import { counted, indices, shown } from "../core/numbers";
import {
  arrowhead,
  barOf,
  bubble,
  fitted,
  haloed,
  line,
  type Place,
  ring,
  scaleBar,
  strokeIn,
  within,
} from "../core/shapes";
import { Camera, type Frame, type Point } from "./camera";
import type { Run } from "./run";
import { headings, type Pick, type DrawState, type Select } from "./panel";

const BORDER = { left: 46, right: 12, top: 30, bottom: 40 }; // pixels around the frame in ordinary type
const INSET = 9; // pixels from the frame to where a far vote ends
const OVER = 4; // pixels over the frame in which a vote is still drawn
const NOTE = { type: 13, rise: 9 }; // of the note on far votes: its type, and pixels from the frame to its baseline
const NEAR = 14; // pixels from a vote at which the pointer means it
const DRAG = 5; // pixels after which a press is a drag
const APART = 90; // pixels between two ticks, or more, in a window of up to 1920
const STEP = 0.1; // radians by which an arrow turns
const TURN = 120; // pixels of dragging for one radian

interface Press {
  readonly x: number;
  readonly y: number;
  readonly yaw: number;
  readonly pitch: number;
  readonly turning: boolean;
  moved: boolean;
}

/** A note in small type, and where it stands. */
interface Words {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly baseline: number;
}

export class Cloud extends Panel<DrawState> {
  readonly camera = new Camera();
  /** Where each vote is drawn. */
  spots: readonly Place[] = [];
  /** Votes that are farther out than they are drawn. */
  outside: ReadonlySet<number> = new Set();
  private run: Run | undefined;
  private border = BORDER;
  private frame: Frame = { left: 0, right: 0, top: 0, bottom: 0 };
  /** The same above the note on far votes. */
  private aboveNote = this.frame;
  private hovered = -1;
  private pressed: Press | null = null;
  private path: Place[] = [];
  private looping = false;
  private keyed = false; // turned by a key that is down

  constructor(
    private readonly onSelect: Select,
    private readonly onPick: Pick,
    private readonly onTurned: () => void,
  ) {
    super();
    worked(this.canvas, false);
    this.canvas.addEventListener("pointerdown", (event) => event.button === 0 && this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.drag(event));
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    this.canvas.addEventListener("pointercancel", () => this.letGo());
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    for (const end of ["keyup", "blur"] as const) this.canvas.addEventListener(end, () => this.letKeysGo());
    heldByFinger(this.canvas, () => this.pressed?.turning ?? false);
  }

  /** Whether a hand turns it. */
  get turning(): boolean {
    return this.keyed || (this.pressed !== null && this.pressed.turning && this.pressed.moved);
  }

  load(run: Run): void {
    this.run = run;
    if (this.hovered >= run.lower) this.hovered = -1;
    this.camera.solid &&= run.data.explained.length > 2;
  }

  fit(width: number, height: number, { scale }: Look): void {
    this.resize(width, height);
    if (!this.run) return;
    const [left, right, top, bottom] = [BORDER.left, BORDER.right, BORDER.top, BORDER.bottom].map(
      (room) => room * scale,
    );
    this.border = { left, right, top, bottom };
    this.frame = { left, right: width - right, top, bottom: height - bottom };
    this.aboveNote = { ...this.frame, bottom: this.frame.bottom - (NOTE.rise + NOTE.type * scale) };
    this.frameAll(this.run);
  }

  /** Have votes, origin and every pose of the class in the picture; where some are too far out, above the note on them. */
  frameAll(run: Run): void {
    const { heads, origin, cloud } = run.data;
    const point = (array: Float32Array, at: number): Point => [array[3 * at], array[3 * at + 1], array[3 * at + 2]];
    const subject = {
      votes: indices(run.lower).map((i) => point(run.data.places, i)),
      origin: point(origin, 0),
      fixed: indices(run.iterations).map((t) => point(heads, t)),
      beyond: cloud,
    };
    const { camera } = this,
      { zoom } = camera;
    camera.zoom = 0;
    camera.fit(subject, this.frame);
    if (this.lay(run).outside.size) camera.fit(subject, this.aboveNote);
    camera.zoom = zoom;
  }

  /**
   * Where each vote is drawn, and which are farther out: shortened, not turned, along their ray from the origin, and all
   * of them above the note on these.
   */
  private lay(run: Run): { spots: Place[]; outside: Set<number> } {
    const origin = this.camera.screen(run.data.origin);
    const seen = this.camera.screens(indices(run.lower).map((i) => run.spot(i)));
    const cut = ({ left, right, top, bottom }: Frame): { spots: Place[]; outside: Set<number> } => {
      const outside = new Set<number>();
      const spots = seen.map((spot, i) => {
        const [end, shortened] = within(origin, spot, left + INSET, top + INSET, right - INSET, bottom - INSET);
        if (shortened) outside.add(i);
        return end;
      });
      return { spots, outside };
    };
    const whole = cut(this.frame);
    return whole.outside.size ? cut(this.aboveNote) : whole;
  }

  override draw(state: DrawState): void {
    worked(this.canvas, this.camera.solid); // its keys turn it
    super.draw(state);
  }

  protected paint(pen: Pen, state: DrawState): void {
    const { run, view } = state;
    Object.assign(this, this.lay(run));
    this.axes(pen, state);
    const { left, right, top, bottom } = this.frame;
    pen.save();
    pen.beginPath();
    pen.rect(left - OVER, top - OVER, right - left + 2 * OVER, bottom - top + 2 * OVER);
    pen.clip();
    this.points(pen, state);
    if (view.covariance && view.tip) this.ellipses(pen, state, view.covariance, view.tip);
    this.marks(pen, state);
    if (this.looping) this.outline(pen, state);
    pen.restore();
    const axis = this.camera.solid ? undefined : this.upright(pen, state);
    const note = this.outside.size ? this.far(pen, state) : undefined;
    if (view.tip) this.arrow(pen, state, view.tip, axis, note);
    if (axis) write(pen, axis, state.look);
    this.title(pen, state);
    if (note) this.arrowed(pen, note, state.look);
    if (this.hovered >= 0) this.say(pen, state, this.hovered);
  }

  private axes(pen: Pen, { run, look }: DrawState): void {
    const { camera } = this;
    pen.font = look.type(13);
    pen.strokeStyle = look.theme.grid;
    pen.fillStyle = look.theme.muted;
    pen.lineWidth = 1;
    if (camera.solid) {
      this.triad(pen, run);
      return;
    }
    const { left, right, top, bottom } = this.frame;
    const [x0, y0] = camera.plane([left, bottom]);
    const [x1, y1] = camera.plane([right, top]);
    // As many ticks along the wider side as have room; the other side has them at the same distance.
    const count = (right - left) / (APART * look.beyond);
    const wide = ticksBetween(x0, x1, count);
    const step = wide.length > 1 ? wide[1] - wide[0] : x1 - x0;
    const written = scaleLinear([x0, x1], [0, 1]).tickFormat(count);
    pen.textAlign = "center";
    for (const tick of wide) {
      const [x] = camera.screen([tick, 0, 0]);
      line(pen, x, top, x, bottom);
      pen.fillText(written(tick), x, bottom + 0.375 * this.border.bottom);
    }
    pen.textAlign = "right";
    for (let k = Math.ceil(y0 / step); k * step <= y1; k++) {
      const [, y] = camera.screen([0, k * step, 0]);
      line(pen, left, y, right, y);
      pen.fillText(written(k * step), left - 5, y + 4 * look.scale);
    }
    pen.textAlign = "left";
    const whole = `PC 1 → (${explained(run, 0)} of variance)`;
    // The colours' scale stands beside it.
    const narrow = left + pen.measureText(`${whole} −0.00  ≥ 0.00`).width + 90 > this.width;
    pen.fillText(narrow ? `PC 1 → (${explained(run, 0)})` : whole, left, this.height - 6);
  }

  /** The name of the second axis, inside: it is read from afar, and larger type finds room. */
  private upright(pen: Pen, { run, look }: DrawState): Words {
    const text = `↑ PC 2 (${explained(run, 1)})`;
    const baseline = this.frame.top + 8 + headings(look).heading;
    return words(pen, text, this.frame.left + 8, baseline, look);
  }

  /** The three axes at the origin, for a space that is being turned. */
  private triad(pen: Pen, run: Run): void {
    const reach = (0.45 * Math.min(this.width, this.height)) / this.camera.unit;
    const from = this.camera.screen([0, 0, 0]);
    const { left, top } = this.frame;
    for (let k = 0; k < 3; k++) {
      const [x, y] = this.camera.screen([0, 1, 2].map((axis) => (axis === k ? reach : 0)));
      line(pen, ...from, x, y);
      // Below the title of the picture.
      pen.fillText(`PC ${k + 1} (${explained(run, k)})`, x + 4, Math.max(y - 4, top + 0.375 * this.border.top));
    }
    pen.fillText("drag to turn, or arrows", left, this.height - 8);
  }

  private points(pen: Pen, { run, view, look, first }: DrawState): void {
    const { cloud, gains, presence, agreement } = run.data;
    const reach = run.agreementReach ?? 1;
    const order = indices(run.lower);
    const [fromX, fromY] = this.camera.screen(run.data.origin);
    if (this.camera.solid) {
      const depth = order.map((i) => this.camera.seen(run.spot(i))[2]);
      order.sort((a, b) => depth[b] - depth[a]);
    }
    strokeIn(pen, look.theme.muted, 0.7 * look.beyond);
    for (const i of order) {
      const there = first && !first.few.has(i) ? first.others : 1;
      if (there === 0) continue;
      const [x, y] = this.spots[i];
      const at = i * run.upperCount + run.upper;
      const share = view.shares[at];
      const radius = Math.max(1.1, cloud.point * Math.sqrt(share)) * look.beyond;
      pen.globalAlpha = there;
      pen.beginPath();
      if (this.outside.has(i)) arrowhead(pen, [x, y], radius, Math.atan2(y - fromY, x - fromX));
      else pen.arc(x, y, radius, 0, 2 * Math.PI);
      if (gains[i] !== 0 && (view.agreement || !agreement)) {
        pen.globalAlpha = 0.88 * there;
        pen.fillStyle = view.agreement
          ? look.diverging.of(view.agreement[at], -reach, reach)
          : look.sequential.of(share * presence[i], 0, 1);
        pen.fill();
        pen.globalAlpha = there;
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  private marks(pen: Pen, { run, capsule, picked, look }: DrawState): void {
    const { beyond } = look;
    strokeIn(pen, look.theme.text, 1.6 * beyond);
    for (const i of picked) ring(pen, this.spots[i], 7 * beyond);
    strokeIn(pen, look.theme.accent, 2 * beyond);
    pen.setLineDash([5 * beyond, 4 * beyond]);
    line(pen, ...this.camera.screen(run.data.origin), ...this.spots[capsule]);
    pen.setLineDash([]);
    pen.lineWidth = 3 * beyond;
    ring(pen, this.spots[capsule], 9 * beyond);
  }

  /** One and two σ of the class's Gaussian, seen from here: a linear image of a Gaussian is a Gaussian. */
  private ellipses(pen: Pen, { run, look }: DrawState, covariance: Float32Array, mean: Float32Array): void {
    const { long, short, angle } = this.camera.ellipse(covariance);
    const [x, y] = this.camera.screen(mean);
    const colour = look.theme.classes[run.upper];
    for (const sigmas of [2, 1]) {
      pen.beginPath();
      pen.ellipse(x, y, sigmas * long, sigmas * short, -angle, 0, 2 * Math.PI);
      pen.globalAlpha = 0.08;
      pen.fillStyle = colour;
      pen.fill();
      pen.globalAlpha = 1;
      for (const [stroke, wider] of [[look.theme.ground, 3] as const, [colour, 0] as const]) {
        strokeIn(pen, stroke, ((sigmas === 1 ? 4 : 2) + wider) * look.beyond);
        pen.stroke();
      }
    }
  }

  /** From the origin to what the class has become; one that leaves the picture ends at its border, and says so. */
  private arrow(
    pen: Pen,
    { run, view, look }: DrawState,
    tip: Float32Array,
    axis: Words | undefined,
    note: Words | undefined,
  ): void {
    const from = this.camera.screen(run.data.origin);
    const { left, right, top, bottom } = this.frame;
    const [to, cut] = within(from, this.camera.screen(tip), left, top, right, bottom);
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    const along = (reach: number, turn = 0): Place => [
      to[0] + reach * Math.cos(angle + turn),
      to[1] + reach * Math.sin(angle + turn),
    ];
    const head = Math.min(18 * look.beyond, Math.hypot(to[0] - from[0], to[1] - from[1]));
    for (const [colour, wide] of [[look.theme.ground, 8] as const, [look.theme.classes[run.upper], 5] as const]) {
      pen.strokeStyle = pen.fillStyle = colour;
      pen.lineWidth = wide * look.beyond;
      line(pen, ...from, ...along(-0.7 * head));
      const wider = ((wide - 5) / 2) * look.beyond;
      pen.beginPath();
      pen.moveTo(...along(0));
      pen.lineTo(...along(head + wider, 2.6));
      pen.lineTo(...along(head + wider, -2.6));
      pen.closePath();
      pen.fill();
      if (wider) pen.stroke();
    }
    // Its name is written over neither that of the axis, upper left, nor the note on far votes, lower left.
    const said = cut ? `${view.tipName} →` : view.tipName;
    pen.font = look.type(20, "bold");
    const [x, y] = along(cut ? -24 : 17);
    const across = Math.min(this.width - 30, Math.max(left + 14, x));
    const begins = across - pen.measureText(said).width / 2;
    const high = 20 * look.scale;
    let down = Math.min(bottom - 6, Math.max(top + 18, y + 7));
    if (axis && begins < axis.right && down - high < axis.baseline) down = axis.baseline + high;
    if (note && begins < note.right && down > note.baseline - high) down = note.baseline - high;
    haloed(pen, said, across, down, look.theme);
  }

  private title(pen: Pen, { run, look, first }: DrawState): void {
    const { classes, cloud } = run.data;
    const reach = run.agreementReach;
    const note = first?.others === 0 ? `${first.few.size} of ${counted(run.lower)}` : cloud.note;
    const baseline = 2 + 1.1 * headings(look).heading;
    const room = this.width - this.frame.left;
    const [large, small] = [look.type(16, "600"), look.type(14)];
    pen.textAlign = "left";
    pen.font = small;
    const beside = pen.measureText(note).width + 12;
    pen.font = large;
    pen.fillStyle = look.theme.text;
    // A long name of a class gives way to what area and colour are.
    const whole = `Votes û for ${classes[run.upper]}`;
    this.canvas.setAttribute("aria-label", `${whole}, ${note}${this.camera.solid ? ". Arrow keys turn it." : ""}`);
    const title = fitted(pen, whole, Math.max(room - beside, room / 2));
    pen.fillText(title, this.frame.left, baseline);
    const wide = pen.measureText(title).width + 12;
    pen.font = small;
    pen.fillStyle = look.theme.muted;
    pen.fillText(fitted(pen, note, room - wide), this.frame.left + wide, baseline);
    const [x, y] = [this.frame.right, this.height - 6 - barOf(look).baseline];
    const key = Math.round(64 * look.beyond);
    if (reach === undefined) {
      scaleBar(pen, x, y, look.sequential.css, ["0", "1"], look, key);
    } else {
      const digits = Math.max(2, 1 - Math.floor(Math.log10(reach)));
      scaleBar(pen, x, y, look.diverging.css, [shown(-reach, digits), `≥ ${shown(reach, digits)}`], look, key);
    }
  }

  /** What the arrowheads at the border are. */
  private far(pen: Pen, { look }: DrawState): Words {
    const left = this.frame.left + 8 + 15 * look.scale;
    const count = `${this.outside.size} ${this.outside.size === 1 ? "vote" : "votes"} farther out`;
    pen.font = look.type(NOTE.type);
    const text =
      [`${count}, shortened along the ray from the origin`, `${count}, shortened along the ray`].find(
        (each) => pen.measureText(each).width <= this.frame.right - left - 8,
      ) ?? count;
    return words(pen, text, left, this.frame.bottom - NOTE.rise, look);
  }

  private arrowed(pen: Pen, note: Words, look: Look): void {
    write(pen, note, look);
    const size = 5 * look.scale;
    pen.beginPath();
    arrowhead(pen, [note.left - 2 * size, note.baseline - 0.8 * size], size, 0);
    strokeIn(pen, look.theme.muted, 1.5);
    pen.stroke();
  }

  private say(pen: Pen, { run, view, look }: DrawState, i: number): void {
    const at = i * run.upperCount + run.upper;
    const agreement = view.agreement ? `   û·v = ${shown(view.agreement[at])}` : "";
    const lines = [run.label(i), `${run.data.symbol} = ${shown(view.shares[at])}${agreement}`];
    if (this.outside.has(i)) {
      lines.push(`its vote lies ${shown(this.beyond(run, i), 1)} times as far out, in this direction`);
    }
    bubble(pen, lines, this.spots[i], this, look);
  }

  /** How many times as far from the origin a shortened vote lies as it is drawn. */
  private beyond(run: Run, i: number): number {
    const [x, y] = this.camera.screen(run.data.origin);
    const distance = ([a, b]: Place): number => Math.hypot(a - x, b - y);
    return distance(this.camera.screen(run.spot(i))) / distance(this.spots[i]);
  }

  // ---------------------------------------------------------------------------------------------------- the pointer

  /** While few votes introduce the board, the others are not there yet. */
  private unseen(i: number): boolean {
    const first = this.shown?.first;
    return first?.others === 0 && !first.few.has(i);
  }

  private nearest([x, y]: Place): number {
    let best = -1;
    let least = NEAR;
    this.spots.forEach(([px, py], i) => {
      if (this.unseen(i)) return;
      const far = Math.hypot(px - x, py - y);
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  private press(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    const [x, y] = pointed(this.canvas, event);
    const { yaw, pitch, solid } = this.camera;
    this.pressed = { x, y, yaw, pitch, turning: solid && !event.shiftKey, moved: false };
    this.path = [[x, y]];
  }

  private drag(event: PointerEvent): void {
    const place = pointed(this.canvas, event);
    const { pressed } = this;
    if (!pressed) {
      this.point(this.nearest(place));
      return;
    }
    const [across, down] = [place[0] - pressed.x, place[1] - pressed.y];
    if (Math.hypot(across, down) < DRAG && !pressed.moved) return;
    pressed.moved = true;
    if (pressed.turning) {
      this.camera.turn(pressed.yaw + across / TURN, pressed.pitch + down / TURN);
    } else {
      this.path.push(place);
      this.looping = true;
    }
    this.redraw();
  }

  /** A finger moves the page: what began is none of the board's. */
  private letGo(): void {
    this.pressed = null;
    this.looping = false;
    this.redraw();
  }

  private release(event: PointerEvent): void {
    const { pressed } = this;
    if (!pressed) return;
    this.pressed = null;
    this.looping = false;
    if (!pressed.moved) {
      const best = this.nearest(pointed(this.canvas, event));
      if (best >= 0) this.onSelect(best, event.shiftKey);
    } else if (pressed.turning) {
      this.onTurned();
    } else {
      const loop = this.path.map(([x, y]): [number, number] => [x, y]);
      const here = indices(this.spots.length).filter((i) => !this.unseen(i));
      const inside = here.filter((i) => polygonContains(loop, [...this.spots[i]]));
      this.onPick(inside, event.shiftKey);
    }
  }

  private key(event: KeyboardEvent): void {
    const { camera } = this;
    const arrow = camera.solid && takenArrow(event); // it turns the votes, not the player
    if (!arrow) return;
    camera.turn(camera.yaw + STEP * arrow[0], camera.pitch - STEP * arrow[1]);
    this.keyed = true;
    this.redraw();
  }

  private letKeysGo(): void {
    if (!this.keyed) return;
    this.keyed = false;
    this.onTurned();
  }

  private point(i: number): void {
    if (this.hovered === i) return;
    this.hovered = i;
    this.canvas.style.cursor = i >= 0 ? "pointer" : "crosshair";
    this.redraw();
  }

  private outline(pen: Pen, { look }: DrawState): void {
    pen.beginPath();
    pen.moveTo(...this.path[0]);
    for (const place of this.path.slice(1)) pen.lineTo(...place);
    pen.closePath();
    pen.fillStyle = look.theme.accent;
    pen.globalAlpha = 0.14;
    pen.fill();
    pen.globalAlpha = 1;
    strokeIn(pen, look.theme.accent, 2);
    pen.stroke();
  }
}

/** How much of the votes' variance lies along an axis. */
function explained(run: Run, axis: number): string {
  return `${Math.round(100 * run.data.explained[axis])} %`;
}

function words(pen: Pen, text: string, left: number, baseline: number, look: Look): Words {
  pen.font = look.type(13);
  return { text, left, right: left + pen.measureText(text).width, baseline };
}

function write(pen: Pen, { text, left, right, baseline }: Words, look: Look): void {
  pen.font = look.type(13);
  haloed(pen, text, (left + right) / 2, baseline, { ground: look.theme.ground, text: look.theme.muted });
}
