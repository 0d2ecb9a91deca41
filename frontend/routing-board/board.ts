// The player of an iterative routing: one clock, one selected capsule, one chosen class, and every picture of them.
//
// The numbers come once; while the visitor plays, steps, scrubs or points, nobody is asked. The host hears of what has to
// be computed or kept: another class, a capsule, an intervention, the frame, and how things are looked at.

import { Board, type Acknowledged, type Host } from "../core/board";
import { button, element, replaceButtons, roomBelow } from "../core/dom";
import { calm } from "../core/motion";
import { indices } from "../core/numbers";
import { IterationsSlider } from "../core/iterations-slider";
import { SharedValue } from "../core/shared-value";
import { PlayerControls } from "../core/player-controls";
import { Bars, ShareLines, VoteBars } from "./charts";
import { CLOSEST } from "./camera";
import { Cloud } from "./cloud";
import { columnsIn, isPresented } from "./columns";
import { Curves, hasGaussians, Logistic, thresholds } from "./gaussians";
import { Retina, ShareMap, Tiles } from "./maps";
import { Algorithm, List } from "./reading";
import "./routing-board.css";
import { type Routing, Run } from "./run";
import { headings, type Options, type DrawState } from "./panel";

const GAP = 18; // pixels between columns
const LOWEST = 260; // pixels that votes beside bars take at least
const RECORDED = 2000; // drawings
const FIRST = 5; // votes with which an introduction begins

/** The algorithms that have been introduced since the page was loaded. */
const introduced = new Set<string>();

/** How a board is looked at: yaw and pitch where the votes are turned, how near, what is left out, the list's order. */
interface Looked {
  readonly turned: readonly [number, number] | null;
  readonly zoom: number;
  readonly bare: boolean;
  readonly absolute: boolean;
  readonly listed: string;
}

interface Message extends Routing {
  /** Whose capsules these are. */
  readonly network?: string;
  /** The selected capsule; without one the strongest. */
  readonly capsule: number | null;
  /** The frame at which to stand, null for the last. */
  readonly frame: number | null;
  readonly looked: Looked;
  /** Whether, the first time, it plays once from the start by itself: nothing was chosen on it yet. */
  readonly introducing: boolean;
  /** T, and what it may rise to: null for as many iterations as there are; with how many the model was trained. */
  readonly rounds: number | null;
  readonly most: number | null;
  readonly trained: number | null;
  /** T where the visitor left it, and the host routes no other. */
  readonly asked?: number;
  readonly acknowledged: Acknowledged;
  /** Boards of the same group play in step. */
  readonly group: string;
  readonly alt: string;
  /** Whether it has the numbers of one class only, and no host to ask for others. */
  readonly alone?: boolean;
  /** What routes how many capsules to how many. */
  readonly called: string;
  /** The intervention in words, "" for none; null where the host cannot route again. */
  readonly touched: string | null;
  /** Whether it can be told what to do to the capsules here: they are the primary ones. */
  readonly able: boolean;
}

export class RoutingBoard extends Board<Message> {
  readonly drawings: number[] = [];
  private readonly picked = new Set<number>();
  private kind = ""; // of the capsules that are on it
  private readonly options: Options = { solid: false, mass: true, difference: true };
  private readonly sharedLook = new SharedValue();
  private readonly sharedRounds = new SharedValue();
  private readonly sharedCapsule = new SharedValue();
  private readonly rounds: IterationsSlider;
  private readonly cloud: Cloud;
  /** What was asked of capsules since the host answered last. */
  private acts: { readonly what: string; readonly capsules: readonly number[] } | null = null;
  private readonly map: ShareMap;
  private readonly tiles: Tiles;
  private readonly retina = new Retina();
  private readonly bars: Bars;
  private readonly lines = new ShareLines();
  private readonly vote = new VoteBars();
  private readonly curves = new Curves();
  private readonly logistic = new Logistic();
  private readonly algorithm = new Algorithm();
  private readonly list: List;
  private readonly tools = element("div", { className: "tools" });
  private readonly side: HTMLElement;
  private readonly gaussians: HTMLElement;
  private run: Run | undefined;
  private capsule = 0;
  private tooled = "";
  private picker: HTMLSelectElement | null = null;
  private few: ReadonlySet<number> | null = null;

  constructor(host: Host) {
    super(host, "routing", 15);
    this.root.setAttribute("role", "group");
    this.rounds = new IterationsSlider((...turned) => this.turn(...turned));
    const select = (i: number, more: boolean): void => this.select(i, more);
    const pick = (capsules: number[], more: boolean): void => this.pick(capsules, more);
    const choose = (j: number): void => this.tell("upper", j);
    this.cloud = new Cloud(select, pick, () => this.tellLook());
    this.map = new ShareMap(select, choose);
    this.tiles = new Tiles(select, pick);
    this.bars = new Bars(choose);
    this.list = new List(select, () => this.tellLook());
    const part = (className: string, ...parts: Node[]): HTMLElement => element("div", { className }, ...parts);
    this.side = part("side", this.algorithm.root, this.lines.canvas);
    const answer = part("answer", this.retina.canvas, this.bars.canvas);
    this.gaussians = part("detail", part("", this.curves.canvas), part("", this.logistic.canvas));
    this.root.append(
      this.tools,
      part("main", part("cloud", this.cloud.canvas), this.side, answer),
      part("map", this.map.canvas),
      part("detail", part("tiles", this.tiles.canvas), part("one", this.vote.canvas, this.list.root)),
      this.gaussians,
    );
  }

  private get panels(): (Cloud | ShareMap | Tiles | Retina | Bars | ShareLines | VoteBars | Curves | Logistic)[] {
    const always = [this.cloud, this.map, this.tiles, this.retina, this.bars, this.lines, this.vote];
    if (!this.run || !hasGaussians(this.run)) return always;
    return [...always, this.curves, ...(thresholds(this.run) ? [this.logistic] : [])];
  }

  protected update(data: Message, before: Message | undefined): void {
    const { group, alt, frame, looked, acknowledged } = data;
    const run = (this.run = new Run(data));
    this.acts = null;
    const kind = JSON.stringify([data.network, data.grid, data.below?.numbers]);
    if (kind !== this.kind) this.picked.clear(); // the same numbers are those of other capsules
    this.kind = kind;
    const wanted = data.asked ?? data.rounds ?? data.iterations;
    if (this.sharedRounds.takes(wanted, acknowledged.rounds, this.rounds.moving)) this.rounds.value = wanted;
    if (data.shorter) run.iterations = this.rounds.value;
    this.rounds.offer(data.shorter || data.most !== null ? (data.most ?? data.iterations) : 1, data.trained, group);
    const chosen = this.sharedCapsule.takes(data.capsule, acknowledged.capsule);
    if (chosen || this.capsule >= run.lower) this.capsule = run.selected(data.capsule);
    if (this.sharedLook.takes(looked, acknowledged.look, this.cloud.turning)) this.take(looked);
    for (const panel of this.panels) panel.load?.(run);
    this.list.load(run);
    this.gaussians.hidden = !hasGaussians(run);
    this.logistic.canvas.hidden = thresholds(run) === null;
    this.describe(run, data);
    for (const { canvas } of this.panels)
      if (!canvas.hasAttribute("aria-label")) canvas.setAttribute("aria-label", alt);
    const controls = this.controlsFor(run);
    controls.group = group;
    const { length } = data.lines;
    this.algorithm.load(run, (line) => controls.go(run.iteration(controls.index) * length + line));
    // Without a frame at the end: what came out is seen first, play starts at the beginning.
    controls.stand(frame, acknowledged.frame);
    this.tool();
    if (before?.alt !== data.alt) this.few = null; // they are those of another image
    const opened = before?.symbol !== data.symbol;
    if (data.introducing && opened && !introduced.has(data.symbol) && !calm()) this.introduce(run, controls);
  }

  /** Play once, from a few votes, of the chosen capsule and the surest others, to all of them. */
  private introduce(run: Run, controls: PlayerControls): void {
    introduced.add(run.data.symbol);
    const { presence } = run.data;
    const surest = indices(run.lower).sort((a, b) => presence[b] - presence[a]);
    this.few = new Set([this.capsule, ...surest].slice(0, FIRST));
    controls.introduce();
  }

  private controlsFor(run: Run): PlayerControls {
    if (this.controls) {
      this.controls.resize(run.count);
      return this.controls;
    }
    const controls = (this.controls = new PlayerControls({
      count: run.count,
      unit: "line",
      show: () => this.draw(),
      name: (index) => this.run?.name(index) ?? "",
      rest: (frame) => this.tell("frame", frame),
      linked: () => this.message?.frame ?? null,
    }));
    controls.root.append(this.rounds.root);
    this.root.prepend(controls.root);
    return controls;
  }

  /** What the board shows, for those who do not see it; of another T than the host's only how often it routes. */
  private describe({ iterations }: Run, { alt, called, rounds, iterations: all }: Message): void {
    const said = `${called} in ${iterations} iteration${iterations === 1 ? "" : "s"}`;
    this.root.setAttribute("aria-label", iterations === (rounds ?? all) ? alt : said);
  }

  /** Another T, as far as it is here at once; rest: where the visitor leaves it, which the host hears, of the one that tells. */
  private turn(rounds: number, rest: boolean, tells: boolean): void {
    const { run, message, controls } = this;
    if (!run || !message || !controls) return;
    const within = message.shorter ? Math.min(rounds, message.iterations) : message.iterations;
    if (within !== run.iterations) {
      run.iterations = within;
      if (this.sharedCapsule.isKnown(null)) this.capsule = run.strongest();
      this.cloud.frameAll(run);
      this.bars.load(run);
      this.list.load(run);
      this.describe(run, message);
      this.tool();
      controls.end(run.count); // what comes out now is seen
    }
    if (!rest) return;
    const news = tells ? this.sharedRounds.sends(rounds) : !this.sharedRounds.isKnown(rounds);
    if (news && message.shorter) controls.ended();
    if (tells && news) this.tell("rounds", rounds);
    else if (tells) controls.leave(); // there and back: at the end of what the host has
  }

  /** How the board is looked at, as the link has it. */
  looked(): Looked {
    const { options, list } = this;
    const { yaw, pitch, zoom } = this.cloud.camera;
    const round = (angle: number): number => Math.round(100 * angle) / 100;
    const turned: Looked["turned"] = options.solid ? [round(yaw), round(pitch)] : null;
    return { turned, zoom, bare: !options.mass, absolute: !options.difference, listed: list.order };
  }

  private take({ turned, zoom, bare, absolute, listed }: Looked): void {
    Object.assign(this.options, { solid: turned !== null, mass: !bare, difference: !absolute });
    Object.assign(this.cloud.camera, { zoom, solid: this.options.solid });
    if (turned) this.cloud.camera.turn(...turned);
    this.list.order = listed;
  }

  private tellLook(): void {
    const looked = this.looked();
    if (this.sharedLook.sends(looked)) this.tell("look", looked);
  }

  /** Buttons for how things are looked at, and for what is done to the capsules that are picked. */
  private tool(): void {
    const { run, message } = this;
    if (!run || !message) return;
    const chosen = this.picked.size ? [...this.picked].sort((a, b) => a - b) : [this.capsule];
    const count = this.picked.size ? `${this.picked.size} picked` : `capsule ${run.number(this.capsule)}`;
    // Buttons stay where they say what they said: one of them may be pressed just now.
    const { touched, able, alone } = message;
    const picker = touched === null && !alone; // no page around it has one
    const shown = picker && [run.data.classes, run.data.kind, run.data.upper];
    const differs = !!run.data.base_shares;
    const placed = run.data.field !== null; // else nothing says where on the image a capsule stands
    const looks = [this.options, this.cloud.camera.zoom, placed];
    const tooled = JSON.stringify([looks, count, chosen, touched, able, shown, differs]);
    if (this.picker) this.picker.value = String(run.data.upper); // where nobody could show the class that was chosen
    if (tooled === this.tooled) return;
    this.tooled = tooled;
    const parts: Node[] = [
      this.toggle("solid", "3-D", "Turn the votes in three dimensions"),
      element(
        "span",
        { className: "zoom", role: "group", "aria-label": "Zoom of the votes" },
        this.zoom("−", -1, "Zoom out of the votes"),
        this.zoom("+", 1, "Zoom into the votes, about their origin"),
      ),
      ...(placed ? [this.toggle("mass", "Heat", "Lay the mean share of each place over the image")] : []),
    ];
    const hint = "Click a capsule; draw a loop around votes, double-click a tile for its type; shift adds.";
    parts.push(element("span", { className: "picked", textContent: count, title: hint }));
    if (message.touched !== null && message.able) {
      const act = (what: string, label: string, title: string): void => {
        const tell = (): void => {
          // The last of its name counts that is told before the host has answered; isolated are the last ones alone.
          const before = what !== "only" && this.acts?.what === what ? this.acts.capsules : [];
          const capsules = [...new Set([...before, ...chosen])];
          this.acts = { what, capsules };
          if (capsules.length === 1) this.sharedCapsule.sends(capsules[0]); // the host then looks at it
          this.tell(what, capsules);
        };
        parts.push(button(label, title, tell));
      };
      act("mute", "Mute", "These capsules say nothing; route again");
      act("boost", "Boost ×2", "These capsules say everything twice as loudly; route again");
      act("only", "Isolate", "Only these capsules speak; route again");
    }
    this.picker = picker ? this.classes(run) : null;
    if (this.picker) parts.push(this.picker);
    if (this.picked.size) parts.push(button("Unpick", "Pick no capsules", () => this.pick([], false)));
    if (message.touched) {
      parts.push(
        button(`Undo: ${message.touched}`, "The network untouched", () => {
          this.acts = null;
          this.tell("untouched", true);
        }),
      );
    }
    // Last: what comes only now leaves the buttons before it where they were pressed.
    if (differs) {
      parts.push(this.toggle("difference", "Difference", "Show the difference to the untouched run"));
    }
    replaceButtons(this.tools, ...parts);
  }

  private classes({ data: { classes, kind, upper } }: Run): HTMLSelectElement {
    const options = classes.map((name, j) => element("option", { value: String(j), textContent: name }));
    const picker = element("select", { "aria-label": `The ${kind} that is looked at` }, ...options);
    picker.value = String(upper);
    picker.onchange = () => this.tell("upper", Number(picker.value));
    return picker;
  }

  private zoom(label: string, by: number, title: string): HTMLButtonElement {
    const { camera } = this.cloud;
    const made = button(label, title, () => {
      camera.zoom += by;
      this.tool();
      this.draw();
      this.tellLook();
    });
    made.setAttribute("aria-label", title);
    made.disabled = Math.abs(camera.zoom + by) > CLOSEST;
    return made;
  }

  private toggle(name: keyof Options, label: string, title: string): HTMLButtonElement {
    const made = button(label, title, () => {
      this.options[name] = !this.options[name];
      this.cloud.camera.solid = this.options.solid;
      this.tool();
      this.layout();
      this.tellLook();
    });
    made.setAttribute("aria-pressed", String(this.options[name]));
    return made;
  }

  protected arrange(): void {
    const { run, look, controls } = this;
    const whole = this.root.clientWidth;
    if (!run || !controls) return;
    const presented = isPresented(look);
    const columns = columnsIn(whole, look);
    const [wide, paired] = [columns === 3, columns === 2];
    this.root.classList.toggle("narrow", !wide);
    this.root.classList.toggle("paired", paired);
    this.root.classList.toggle("presented", presented);
    const side = wide ? Math.round(Math.max(250, 0.28 * whole)) : whole;
    const shares = { 1: whole, 2: 0.36 * whole, 3: Math.min(300 * look.beyond, 0.21 * whole) };
    const answer = Math.round(shares[columns]);
    this.side.style.width = `${side}px`;
    this.algorithm.draw(this.drawState(run, controls)); // with numbers in it, it is higher
    // As tall as the window leaves below the controls, within what reads well.
    const above = controls.root.offsetHeight + (presented ? 0 : this.tools.offsetHeight + 10);
    // Presented, it ends with the window, so that no sliver of what comes below is seen.
    const room = roomBelow(this.root) - above - (presented ? 17 : 24);
    let tall = Math.round(Math.max(360, Math.min(0.4 * whole, 700 * look.beyond, room)));
    const { under, foot } = headings(look);
    // Every bar has a row in which its words stand apart, but for very many of them.
    const names = 18 * (under / 24) * Bars.lines(run.upperCount);
    const rows = names + under + 10;
    if (paired) {
      // Where that leaves votes and bars high enough, the algorithm stands in the window as well.
      const least = Math.max(rows, LOWEST);
      const lower = room - this.algorithm.height - 10;
      tall = Math.min(tall, Math.round(lower >= least ? lower : Math.max(least, room)));
      const third = Math.round(130 * look.scale);
      this.cloud.fit(whole - answer - GAP, tall, look);
      this.bars.fit(answer, Math.max(rows, tall), under);
      this.retina.fit(third - under - foot, under, foot);
      this.lines.resize(whole - this.retina.width - GAP, third);
    } else {
      this.cloud.fit(wide ? whole - side - answer - 2 * GAP : whole, tall, look);
      const most = wide ? Math.min(0.47 * tall, Math.max(0.3 * tall, tall - rows - under)) : 0.47 * tall;
      this.retina.fit(Math.min(answer, Math.round(most) - foot), under, foot);
      const beside = wide ? 0 : this.retina.width + GAP;
      this.bars.fit(answer - beside, Math.max(rows, wide ? tall - this.retina.height - 8 : this.retina.height), under);
      this.lines.resize(side, Math.max(Math.round(96 * look.scale), tall - this.algorithm.root.offsetHeight - 10));
    }
    const over = wide ? under : 2 * under;
    this.map.fit(whole, Math.round(wide ? Math.max(180, 0.14 * whole) : over + names + foot), over, foot);
    const tiles = wide ? Math.round(0.58 * whole) : whole;
    this.tiles.fit(tiles, under, 600 * look.beyond);
    this.vote.resize(wide ? whole - tiles - GAP : whole, 190 * look.beyond);
    const curves = wide && thresholds(run) ? Math.round(0.62 * whole) : whole;
    this.curves.resize(curves, 400 * look.beyond);
    this.logistic.resize(wide ? whole - curves - GAP : whole, 300 * look.beyond);
    this.draw();
  }

  override destroy(): void {
    this.rounds.close();
    super.destroy();
  }

  private drawState(run: Run, { position }: PlayerControls): DrawState {
    const { look, capsule, picked, options } = this;
    if (position >= 1) this.few = null;
    const first = this.few && { few: this.few, others: position };
    return { run, view: run.view(position), look, capsule, picked, options, first };
  }

  private draw(): void {
    const { run, controls } = this;
    if (this.hearing || !run || !controls || !this.cloud.width) return;
    const began = performance.now();
    const state = this.drawState(run, controls);
    for (const panel of this.panels) panel.draw(state);
    this.algorithm.draw(state);
    this.list.draw(state);
    this.root.dataset.frame = String(controls.position);
    this.drawings.push(performance.now() - began);
    if (this.drawings.length > RECORDED) this.drawings.shift();
  }

  private select(i: number, more: boolean): void {
    if (more) {
      this.pick([i], true);
      return;
    }
    this.capsule = i;
    this.tool();
    this.draw();
    if (this.sharedCapsule.sends(i)) this.tell("capsule", i);
  }

  private pick(capsules: readonly number[], more: boolean): void {
    if (!more) this.picked.clear();
    const gone = capsules.every((i) => this.picked.has(i)); // picked already, all of them are taken from the others
    for (const i of capsules) {
      if (gone) this.picked.delete(i);
      else this.picked.add(i);
    }
    this.tool();
    this.draw();
  }
}
