// A routing that can be taken into the hand: a few lower capsules, two parents, votes in the plane. Everything moves
// here; the host hears where the votes were left.

import { interpolateNumberArray } from "d3-interpolate";

import { Board, type Acknowledged, type Host } from "../core/board";
import { inkOn, type Theme } from "../core/colours";
import { element, roomBelow, tabled } from "../core/dom";
import { calm } from "../core/motion";
import { indices, shown } from "../core/numbers";
import { IterationsSlider } from "../core/iterations-slider";
import { SharedValue } from "../core/shared-value";
import { PlayerControls } from "../core/player-controls";
import { Hand, type Holder } from "./hand";
import { Plane } from "./plane";
import { routeByAgreement, type Step, type Votes } from "./routing";
import { type Story, told } from "./story";
import "./toy.css";

const SMALLEST = 330; // CSS pixels of a plane, in ordinary type
const BELOW = 64; // CSS pixels that stay free below the toy
const [HOLD, GLIDE] = [1500, 1300]; // milliseconds that a frame of the story stands, and that it takes to the next one

const OWN_VOTES = "Your own votes.";

interface Message {
  readonly votes: Votes;
  readonly reach: number;
  readonly iterations: number;
  /** The iteration at which to stand, null for the last. */
  readonly frame: number | null;
  readonly acknowledged: Acknowledged;
  /** What T may rise to. */
  readonly most: number;
  readonly presets: Readonly<Record<string, { readonly votes: Votes; readonly note: string }>>;
  /** Of lower capsules and of parents. */
  readonly colours: readonly string[];
  readonly parents: readonly string[];
  /** What it shows by itself until a vote is taken into the hand; null: nothing. */
  readonly story: Story | null;
  /** Only the planes and the player. */
  readonly plain: boolean;
  readonly theme: Theme;
}

interface Row {
  readonly root: HTMLElement;
  readonly cells: HTMLElement[];
  readonly shares: HTMLElement[];
}

interface Parent {
  readonly root: HTMLElement;
  readonly plane: Plane;
  readonly title: HTMLElement;
}

export class Toy extends Board<Message> implements Holder {
  votes: Votes = [];
  private iterations = 1;
  private steps: Step[] = [];
  private story: Story | null = null;
  private ended = false; // whether its votes were taken out of the story, which the host has not heard yet
  private readonly sharedVotes = new SharedValue();
  private readonly sharedIterations = new SharedValue();
  private buttons: HTMLButtonElement[] = [];
  private parents: Parent[] = [];
  private rows: Row[] = [];
  private notes: HTMLElement[] = [];
  private readonly rounds = new IterationsSlider((rounds, rest) => {
    this.iterations = rounds;
    if (!rest) {
      this.route();
    } else if (this.sharedIterations.sends(rounds)) {
      this.controls?.ended();
      this.tell("iterations", rounds);
    } else {
      this.controls?.leave(); // there and back: at the end of what the host has
    }
  });
  private readonly hand = new Hand(this);
  private readonly below = element("div", { className: "below" });

  constructor(host: Host) {
    super(host, "toy");
  }

  protected update(data: Message): void {
    const { acknowledged } = data;
    this.root.classList.toggle("plain", data.plain);
    const taken = this.sharedVotes.takes(data.votes, acknowledged.votes) && !this.hand.busy;
    const other = taken && (data.story === null) !== (this.story === null);
    if (taken) [this.votes, this.story] = [structuredClone(data.votes), data.story];
    if (this.sharedIterations.takes(data.iterations, acknowledged.iterations, this.rounds.moving)) {
      this.rounds.value = this.iterations = data.iterations;
    }
    if (other || this.rows.length !== this.votes.length) this.build(data);
    this.rounds.offer(data.most, null, "");
    this.route();
    this.controls?.stand(data.frame, acknowledged.frame);
    if (other && this.story && data.frame === null && !calm()) this.controls?.perform();
  }

  private build(data: Message): void {
    this.buttons = Object.entries(data.presets).map(([name, { votes, note }]) => {
      const made = element("button", { type: "button", textContent: name, title: note });
      made.onclick = () => this.take(votes);
      return made;
    });
    // All notes lie on one place, of which one is seen: whichever it is, what stands below keeps its place.
    const said = this.story?.said ?? Object.values(data.presets).map(({ note }) => note);
    this.notes = [...said, OWN_VOTES].map((textContent) => element("span", { textContent }));
    this.parents = data.parents.map((_, j) => this.parent(j));
    this.rows = this.votes.map((_, i) => this.row(data, i));
    this.controls?.destroy();
    this.controls = new PlayerControls({
      count: this.frames,
      show: () => this.layout(),
      unit: this.story ? "step" : "iteration",
      name: (index) => this.nameOf(index),
      rest: (frame) => this.tell("frame", frame),
      linked: () => this.message?.frame ?? null,
      ...(this.story ? { hold: HOLD, glide: GLIDE } : {}),
    });
    const heads = ["vote", "b₁", "û·v₁", "coupling c", "û·v₂", "b₂"];
    const table = element("table", {}, ...tabled(heads, ...this.rows.map(({ root }) => root)));
    const [left, right] = this.parents;
    const note = element("div", { className: "note" }, ...this.notes);
    this.below.replaceChildren(...(data.plain ? [note] : []), this.controls.root, this.rounds.root);
    this.root.replaceChildren(
      element("div", { className: "tools" }, ...this.buttons),
      ...(data.plain ? [] : [note]),
      element("div", { className: "board" }, left.root, element("div", { className: "middle" }, table), right.root),
      this.below,
    );
    this.controls.stand(data.frame, data.acknowledged.frame);
  }

  /** Of the story, the votes before they agree are one more. */
  private get frames(): number {
    return this.iterations + (this.story ? 1 : 0);
  }

  private nameOf(index: number): string {
    const iteration = `iteration ${Math.max(1, index + (this.story ? 0 : 1))} of ${this.iterations}`;
    return this.story && index < 2 ? `${["votes apart", "votes agree"][index]}, ${iteration}` : iteration;
  }

  private parent(j: number): Parent {
    const plane = new Plane();
    this.hand.take(j, plane);
    const title = element("h3");
    return { plane, title, root: element("figure", {}, title, plane.canvas) };
  }

  private row(data: Message, i: number): Row {
    const cells = indices(4).map(() => element("td"));
    const on = (colour: string): string => `background:${colour};color:${inkOn(colour)}`;
    const shares = data.parents.map((colour) => element("span", { style: on(colour) }));
    const name = element("span", { className: "name", textContent: String(i + 1), style: on(data.colours[i]) });
    const bar = element("td", {}, element("div", { className: "share" }, ...shares));
    const [b1, d1, d2, b2] = cells;
    return { root: element("tr", {}, element("th", { scope: "row" }, name), b1, d1, bar, d2, b2), cells, shares };
  }

  /** Other votes, from a preset. */
  private take(votes: Votes): void {
    this.votes = structuredClone(votes);
    if (this.message && this.rows.length !== votes.length) this.build(this.message);
    this.route();
    this.leave();
  }

  override destroy(): void {
    this.rounds.close();
    super.destroy();
  }

  private leave(): void {
    if (!this.sharedVotes.sends(this.votes)) return;
    if (this.ended) this.controls?.ended(); // what was the story's is at the end of what the host has
    this.ended = false;
    this.tell("votes", this.votes);
  }

  /** Route anew, and draw at the same place among the iterations. */
  private route(): void {
    const { controls, message } = this;
    if (!controls || !message) return;
    this.steps = routeByAgreement(this.votes, this.iterations);
    if (controls.count !== this.frames)
      controls.end(this.frames); // with another T, what comes out now is seen
    else controls.place(controls.position);
    if (this.story) return; // what is said goes with the frame
    const text = JSON.stringify(this.votes);
    const named = Object.values(message.presets).findIndex(({ votes }) => JSON.stringify(votes) === text);
    this.buttons.forEach((made, k) => made.setAttribute("aria-pressed", String(k === named)));
    this.say(named < 0 ? this.notes.length - 1 : named);
  }

  private say(which: number): void {
    this.notes.forEach((note, k) => note.classList.toggle("said", k === which));
  }

  // ------------------------------------------------------------------------------------------------------- the hand

  get seen(): Votes {
    const { story, controls } = this;
    return story && controls ? told(story, this.votes, this.iterations, controls.position).votes : this.votes;
  }

  get reach(): number {
    return this.message?.reach ?? 1;
  }

  get scale(): number {
    return this.look.scale;
  }

  /** The votes are in the visitor's hand from here on, as they are on screen, routed to the end. */
  taken(): void {
    if (!this.story || !this.controls) return;
    this.votes = this.seen.map((capsule) => capsule.map(([x, y]) => [Number(x.toFixed(2)), Number(y.toFixed(2))]));
    [this.story, this.ended] = [null, true];
    this.steps = routeByAgreement(this.votes, this.iterations);
    this.controls.end(this.frames);
  }

  move(i: number, j: number, to: [number, number], rest: boolean): void {
    this.votes[i][j] = to;
    this.route();
    if (rest) this.leave();
  }

  changed(rest: boolean): void {
    this.layout();
    if (rest) this.leave();
  }

  // ----------------------------------------------------------------------------------------------------- the picture

  protected arrange(message: Message): void {
    const { controls, look, story } = this;
    if (!this.steps.length || !controls) return;
    const scene = story
      ? told(story, this.votes, this.iterations, controls.position)
      : { votes: this.votes, steps: this.steps, position: controls.position };
    if (story) this.say(Math.min(controls.index, story.said.length - 1));
    const { votes, steps } = scene;
    const position = Math.min(scene.position, steps.length - 1);
    const first = Math.floor(position);
    const from = steps[first];
    const to = steps[Math.min(first + 1, steps.length - 1)];
    const between = (name: keyof Step): number[][] =>
      from[name].map((row, i) => interpolateNumberArray(row, to[name][i])(position - first).slice());
    const now = { logits: between("logits"), couplings: between("couplings"), agreement: between("agreement") };
    const poses = between("poses");
    const side = Math.min(this.parents[0].root.clientWidth, Math.max(SMALLEST * look.scale, this.room()));
    this.parents.forEach(({ plane, title }, j) => {
      const length = shown(Math.hypot(...poses[j]), 2);
      title.replaceChildren(
        element("span", { className: "square", style: `background:${message.parents[j]}` }),
        ` parent ${j + 1}: ‖v`,
        element("sub", { textContent: String(j + 1) }),
        `‖ = ${length}`,
      );
      const held = this.hand.on(j, plane);
      const inHand =
        held === null ? "" : `; vote ${held + 1} at ${votes[held][j].map((value) => shown(value, 2)).join(", ")}`;
      plane.canvas.setAttribute("aria-label", `votes for parent ${j + 1} and its pose of length ${length}${inHand}`);
      plane.fit(side, message.reach);
      plane.draw({
        look,
        colours: message.colours,
        colour: message.parents[j],
        name: `v${"₁₂"[j]}`,
        votes: votes.map((vote) => vote[j]),
        couplings: now.couplings.map((row) => row[j]),
        pose: poses[j],
        held,
      });
    });
    this.rows.forEach((row, i) => writeRow(row, now.logits[i], now.couplings[i], now.agreement[i]));
  }

  /** What the window leaves for the planes, the page scrolled to its top. */
  private room(): number {
    return roomBelow(this.parents[0].plane.canvas) - this.below.offsetHeight - BELOW;
  }
}

function writeRow({ cells, shares }: Row, b: number[], c: number[], agreement: number[]): void {
  [b[0], agreement[0], agreement[1], b[1]].forEach((value, k) => (cells[k].textContent = shown(value, 2)));
  shares.forEach((share, j) => {
    share.style.width = `${100 * c[j]}%`;
    share.textContent = c[j] >= 0.3 ? shown(c[j], 2) : "";
  });
}
