// Points in the plane that Gaussians share among themselves, by EM for a mixture or as votes by EM routing. Everything
// moves here; the host hears where the visitor left it.

import { aloud } from "../core/aloud";
import { Board, type Acknowledged, type Host } from "../core/board";
import type { Theme } from "../core/colours";
import { button, element, roomBelow, topOf } from "../core/dom";
import { shown } from "../core/numbers";
import { SharedValue } from "../core/shared-value";
import { PlayerControls } from "../core/player-controls";
import { Controls, type Offer } from "./controls";
import type { Point } from "./em";
import { Hand, type Holder } from "./hand";
import "./mixture.css";
import { Plane } from "./plane";
import { between, changed, type Frame, mostShared, run, type Run, type Start, type State } from "./run";
import { Side } from "./side";

const SMALLEST = 272; // CSS pixels of the plane
const LARGEST = 760;
const BELOW = 34; // CSS pixels that stay free below the plane, in ordinary type
const NARROW = 820; // CSS pixels of the board below which everything stands in one column
const PACE = 260; // milliseconds that a half step stands, and as long it takes to the next

const SAID = {
  own: "Your own points.",
  other: "Not as many Gaussians as the points were drawn for.",
  votes:
    "Each point is now a lower capsule's vote, each Gaussian a parent that is on or off. Here all parents get the same votes.",
  fewest: "No fewer points: every Gaussian needs some.",
  most: "No more points fit here: remove some first.",
};

interface Message extends Offer {
  readonly state: State;
  /** The half step at which to stand, null for the last. */
  readonly frame: number | null;
  readonly acknowledged: Acknowledged;
  readonly presets: readonly {
    readonly name: string;
    readonly title: string;
    readonly note: string;
    readonly gaussians: number;
    readonly points: readonly Point[];
  }[];
  readonly starts: readonly Readonly<Record<string, Start>>[];
  readonly floor: number;
  readonly ramp: readonly number[];
  readonly fewest: number;
  readonly most: number;
  readonly reach: number;
  readonly decimals: number;
  readonly lines: Readonly<Record<"mixture" | "votes", readonly string[]>>;
  readonly theme: Theme;
}

export class MixtureBoard extends Board<Message> implements Holder {
  state!: State;
  run!: Run;
  private readonly shared = new SharedValue();
  private pointed: number | null = null;
  private refused: "fewest" | "most" | null = null;
  private panel: Controls | undefined;
  readonly plane = new Plane();
  private readonly hand = new Hand(this.plane, this);
  private readonly side = new Side((frame) => this.controls?.go(frame));
  private readonly note = aloud(element("p", { className: "note" }));
  private readonly caption = element("p", { className: "caption" });
  private readonly place = element("figure", { className: "plane" }, this.plane.canvas);

  constructor(host: Host) {
    super(host, "mixture");
    this.plane.canvas.setAttribute("aria-keyshortcuts", "Delete Backspace");
  }

  // ------------------------------------------------------------------------------------------- what the hand asks for

  get points(): readonly Point[] {
    return this.state.points ?? this.preset?.points ?? [];
  }

  private get preset(): Message["presets"][number] | undefined {
    return this.message?.presets.find(({ name }) => name === this.state.preset);
  }

  get chosen(): number | null {
    return this.state.point;
  }

  get scale(): number {
    return this.look.scale;
  }

  get decimals(): number {
    return this.message?.decimals ?? 2;
  }

  get reach(): number {
    return this.message?.reach ?? 1;
  }

  get fewest(): number {
    return this.message?.fewest ?? 0;
  }

  get most(): number {
    return this.message?.most ?? 0;
  }

  lay(points: readonly Point[], point: number | null, rest: boolean): void {
    const known = JSON.stringify(points) === JSON.stringify(this.preset?.points);
    this.change({ points: known ? null : points, point }, rest);
  }

  point(index: number | null): void {
    if (index === this.pointed) return;
    this.pointed = index;
    this.layout();
  }

  refuse(what: "fewest" | "most"): void {
    this.refused = what;
    this.layout();
  }

  // --------------------------------------------------------------------------------------------------------- the state

  protected update(data: Message): void {
    const { acknowledged } = data;
    const busy = this.hand.busy || (this.panel?.held ?? false);
    if (this.shared.takes(data.state, acknowledged.left, busy) && !busy) this.state = data.state;
    if (this.pointed !== null && this.pointed >= this.points.length) this.pointed = null;
    if (!this.panel) this.build(data);
    this.compute(data);
    this.controls?.stand(data.frame, acknowledged.frame);
  }

  private build(data: Message): void {
    this.panel = new Controls(
      data,
      (change, rest) => this.change(change, rest),
      (value, rest) => this.activate(value, rest),
      () => this.state,
    );
    const rounds = data.ramp.length;
    this.controls = new PlayerControls({
      count: 2 * rounds + 1,
      show: () => this.layout(),
      unit: "half step",
      name: (index) => (index ? `${index % 2 ? "E" : "M"}-step ${Math.ceil(index / 2)} of ${rounds}` : "the start"),
      rest: (frame) => this.tell("frame", frame),
      linked: () => this.message?.frame ?? null,
      hold: PACE,
      glide: PACE,
    });
    const remove = button("Remove point", "Remove the chosen point (Delete)", () => this.hand.remove(this.chosen));
    const add = button("Add point", "Add a point (A)", () => this.hand.addBeside());
    const keys =
      "Click adds a point, drag moves it, double click removes it; or focus the plane: N next, arrows, A, Delete.";
    this.root.replaceChildren(
      this.panel.reading,
      this.panel.tools,
      this.note,
      this.controls.root,
      this.panel.knobs,
      element("div", { className: "board" }, this.place, this.side.root),
      this.caption,
      element("div", { className: "tools hand" }, add, remove, element("span", { textContent: keys })),
    );
  }

  private change(change: Partial<State>, rest: boolean): void {
    this.refused = null;
    this.state = { ...this.state, ...change };
    if (this.message) this.compute(this.message);
    if (rest && this.shared.sends(this.state)) this.tell("left", this.state);
  }

  /** Another a_i of the chosen point, or of all. */
  private activate(value: number, rest: boolean): void {
    const { chosen } = this;
    this.lay(
      this.points.map(([x, y, a], i): Point => [x, y, chosen === null || chosen === i ? value : a]),
      chosen,
      rest,
    );
  }

  private compute(data: Message): void {
    const { state, points } = this;
    this.run = run(state, points, data.starts[state.turn][state.gaussians], data.floor, data.ramp);
    const all = state.point === null ? points.map((point) => point[2]) : [points[state.point][2]];
    this.panel?.update(state, data, all.every((a) => a === all[0]) ? all[0] : null);
    this.side.build(data.lines[state.votes ? "votes" : "mixture"], data.theme.classes.slice(0, state.gaussians));
    this.layout();
  }

  // ------------------------------------------------------------------------------------------------------- the picture

  protected arrange(message: Message): void {
    const { controls, look, run } = this;
    if (!controls) return;
    const { position, index } = controls;
    const shown = between(run.routedFrames ?? run.frames, position);
    const beside = run.routedFrames && between(run.frames, position);
    this.say(shown, changed(shown.owned, beside?.owned ?? null)); // first: the plane ends where the words leave it room
    const room = roomBelow(this.plane.canvas) - BELOW * look.scale;
    const across = this.root.clientWidth;
    const narrow = across < NARROW;
    const wide = narrow ? across : Math.min(across / 2, LARGEST * look.scale, Math.max(SMALLEST, room));
    const point = this.pointed ?? this.chosen ?? mostShared(run.frames.at(-1)?.owned ?? []);
    this.root.classList.toggle("narrow", narrow);
    this.place.style.width = `${wide}px`;
    this.plane.fit(wide, message.reach);
    this.plane.draw({
      look,
      points: this.points,
      frame: shown,
      beside,
      chosen: this.chosen,
      pointed: this.pointed,
      read: point,
      symbol: run.routed ? "R" : "r",
    });
    const bottom = narrow ? null : topOf(this.place) + this.plane.height;
    this.side.draw({ look, run, frame: shown, beside, position, index, point, bottom });
    this.root.dataset.ready = "true";
  }

  /** What stands in words: note, caption, and the plane's own description. */
  private say(shown: Frame, moved: readonly number[]): void {
    const { state, points, preset } = this;
    const ofPreset = preset?.gaussians === state.gaussians ? preset.note : SAID.other;
    const note = state.votes ? SAID.votes : state.points ? SAID.own : ofPreset;
    this.note.textContent = this.refused ? SAID[this.refused] : note;
    const count = moved.length === 1 ? "1 point belongs" : `${moved.length} points belong`;
    this.caption.replaceChildren(
      element("b", { textContent: "Drag a point, or click to add one. " }),
      state.votes
        ? `Dashed, and the mark on a bar: the mixture. Ringed: ${count} mostly to another parent than there.`
        : "Ellipses: 1 and 2 deviations, thicker for a larger π. Colours: who owns a point.",
    );
    this.plane.canvas.setAttribute(
      "aria-label",
      `${points.length} points and ${state.gaussians} Gaussians. ${this.about(shown)}`,
    );
  }

  private about({ owned }: Frame): string {
    const { chosen, points } = this;
    if (chosen === null) return "No point is chosen: N chooses one, A adds one.";
    const [x, y] = points[chosen];
    const shares = owned ? owned[chosen].map((share, k) => `${shown(share, 2)} of Gaussian ${k + 1}`).join(", ") : "";
    return `Point ${chosen + 1} at ${shown(x, 2)}, ${shown(y, 2)}${shares && `: ${shares}`}. Arrows move it, Delete removes it.`;
  }
}
