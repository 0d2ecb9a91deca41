// Play, slow motion, pause, step, scrub and keys, for whatever is drawn as a function of a position. No server is asked.
//
// Keys: space plays and pauses, ← → step, Home and End jump, s is slow motion. They go to the player that was touched
// last, else to the first on the page; a field that takes typing keeps its keys, and where a place says so
// (`data-own-keys`), only keys that are pressed in it are its players'. Players of one group move in step.

import { aloud } from "./aloud";
import { button, element, quietOutput } from "./dom";
import { keyOf } from "./key";
import { calm } from "./motion";
import { Player } from "./player";
import { SharedValue } from "./shared-value";
import "./player-controls.css";

const HOLD = 620;
const GLIDE = 380;
const LINGER = 3500; // milliseconds that the last frame stands before a performance begins anew
const READING = 1200; // milliseconds more that the first frame stands where it plays by itself
const LONGEST = HOLD + GLIDE; // milliseconds that count between two looks: a tab that nobody sees is not looked at
const REST = 500; // milliseconds without a move after which the place counts as chosen

interface Options {
  /** How many frames. */
  readonly count: number;
  /** Draws at a position. */
  readonly show: (position: number) => void;
  /** What a frame is called. */
  readonly name: (index: number, position: number) => string;
  /** What a frame is, in the words of the buttons. */
  readonly unit?: string;
  /** Hears where the visitor left it, null for the end, half a second after the last move. */
  readonly rest?: (frame: number | null) => void;
  /** Where the host has it, null for the end. */
  readonly linked: () => number | null;
  /** Hears that nobody is to hear any more where it was left. */
  readonly halted?: () => void;
  readonly hold?: number;
  readonly glide?: number;
}

interface Moved {
  readonly group: string;
  readonly share: number;
  readonly from: PlayerControls;
}

/** All players of the page, whichever board brought them, and the one that listens for keys. */
interface Players {
  all: PlayerControls[];
  active: PlayerControls | null;
}

declare global {
  interface Window {
    capsvizPlayers?: Players;
  }
}

export class PlayerControls {
  readonly root: HTMLElement;
  /** Players of the same group move in step. */
  group = "";
  rest: ((frame: number | null) => void) | undefined;
  timer = 0;
  readonly player: Player;
  private readonly listening = new AbortController();
  private frame = new SharedValue();
  private readonly playButton: HTMLButtonElement;
  private readonly slowButton: HTMLButtonElement;
  private readonly slider: HTMLInputElement;
  private readonly label = aloud(quietOutput("frame"));
  private resting: number | undefined;
  private performing = false;

  constructor(private readonly options: Options) {
    const { count, rest, unit = "step", hold = HOLD, glide = GLIDE } = options;
    this.player = new Player(count, hold, glide);
    this.rest = rest;
    const control = (label: string, title: string, act: () => void): HTMLButtonElement => {
      const made = button(label, title, act);
      made.setAttribute("aria-label", title);
      return made;
    };
    this.playButton = control("", "Play or pause (space)", () => this.toggle());
    this.slowButton = control("Slow", "Slow motion (s)", () => this.setSlow(!this.player.slow));
    this.slider = element("input", { type: "range", min: "0", step: "1", "aria-label": unit });
    this.slider.addEventListener("input", () => this.go(this.slider.valueAsNumber));
    this.root = element(
      "div",
      { className: "player-controls", role: "group", "aria-label": "Player" },
      this.playButton,
      control("◀", `One ${unit} back (←)`, () => this.step(-1)),
      control("▶", `One ${unit} on (→)`, () => this.step(1)),
      this.slowButton,
      this.slider,
      this.label,
    );
    const { signal } = this.listening;
    this.root.addEventListener("pointerdown", () => (players().active = this), { signal });
    window.addEventListener("capsviz:position", (event) => this.follow((event as CustomEvent<Moved>).detail), {
      signal,
    });
    this.sayPlaying(false);
    this.setSlow(false);
    players().all.push(this);
    this.resize(count);
  }

  get position(): number {
    return this.player.position;
  }

  get count(): number {
    return this.player.count;
  }

  get index(): number {
    return this.player.index;
  }

  /** Other frames: another number of them, the same place among them. */
  resize(count: number): void {
    this.player.resize(count);
    this.slider.max = String(count - 1);
    this.shown();
  }

  /**
   * Other frames, of which the one that is shown has another number: what was said of numbers before is void. Whether the
   * visitor is ahead of the host, and stays there.
   */
  renumber(count: number, index: number): boolean {
    const ahead = this.ahead;
    this.frame = new SharedValue();
    this.player.resize(count);
    this.slider.max = String(count - 1);
    this.place(index);
    if (this.timer && index < this.player.last) this.player.start();
    else this.stop();
    return ahead;
  }

  /** Other frames, and stand at the last of them, without telling others. */
  end(count: number): void {
    this.stop();
    this.player.resize(count);
    this.slider.max = String(count - 1);
    this.place(this.player.last);
  }

  /** With what the host was told it goes to the end by itself: where the visitor moves it after that is news. */
  ended(): void {
    this.frame.sends(null);
  }

  /** Draw at a position, without telling others. */
  place(position: number): void {
    this.player.place(position);
    this.shown();
  }

  private shown(): void {
    this.slider.value = String(this.index);
    const text = this.options.name(this.index, this.position);
    this.label.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    this.options.show(this.position);
  }

  /** The visitor moved it: players of the same group come along, and the host hears where it was left. */
  private moved(): void {
    this.shown();
    window.clearTimeout(this.resting);
    if (this.rest) this.resting = window.setTimeout(() => this.timer || this.leave(), REST);
    if (!this.group) return;
    const detail: Moved = { group: this.group, share: this.player.share, from: this };
    window.dispatchEvent(new CustomEvent("capsviz:position", { detail }));
  }

  private follow({ group, share, from }: Moved): void {
    if (!this.group || group !== this.group || from === this) return;
    this.stop();
    window.clearTimeout(this.resting); // the other one says where they stand
    if (this.frame.waits) from.frame.forget(); // also where the host had it there before this one spoke
    this.player.share = share;
    if (!from.timer) this.player.place(this.index); // among other frames it may stand between two
    this.shown();
  }

  leave(): void {
    if (this.frame.sends(this.left)) this.rest?.(this.left);
  }

  /** Where it stands, as the link has it: null for the end. */
  get left(): number | null {
    return this.index === this.player.last ? null : this.index;
  }

  /**
   * Stand where the link says, null for the end; not where it only answers, or where the visitor has moved on since.
   * count: how often the host has acknowledged where the visitor left it.
   */
  stand(frame: number | null, count?: number): void {
    if (!this.frame.takes(frame, count, this.ahead)) return;
    this.stop();
    this.place(frame ?? this.player.last);
  }

  /** Whether it moves, or stands where the host has not heard of yet. */
  private get ahead(): boolean {
    return this.timer !== 0 || !this.frame.isKnown(this.left);
  }

  /** Stop, and leave it to what comes next where it stands: nobody hears of it. */
  halt(): void {
    this.stop();
    window.clearTimeout(this.resting);
    this.frame = new SharedValue();
    this.options.halted?.();
  }

  /** Stay where it stands: the host says so, or has not heard of it yet. */
  stay(frame: number | null, count?: number): void {
    this.frame.takes(frame, count, true);
  }

  /** Stand where the host has it, whatever it was doing. Nobody hears of it. */
  arrive(): void {
    this.reset(this.options.linked());
  }

  /** Stand on a frame, null for the end, whatever it was doing; nobody hears of it. */
  reset(frame: number | null): void {
    this.halt();
    this.place(frame ?? this.player.last);
  }

  /** Stand on a frame. */
  go(index: number): void {
    this.stop();
    this.player.place(index);
    this.moved();
  }

  private step(by: number): void {
    this.go(this.player.stepped(by));
  }

  toggle(): void {
    if (this.timer)
      this.go(this.index); // here the visitor leaves it, on a frame, which is what is told
    else this.play();
  }

  private setSlow(slow: boolean): void {
    this.player.slow = slow;
    this.slowButton.setAttribute("aria-pressed", String(slow));
  }

  play(): void {
    cancelAnimationFrame(this.timer);
    this.player.start();
    this.moved();
    this.sayPlaying(true);
    const jumping = calm();
    let before = performance.now();
    const frame = (now: number): void => {
      const passed = Math.min(now - before, LONGEST);
      if (!this.player.ended) {
        if (this.player.advance(passed, jumping)) this.moved();
      } else if (this.player.stands(passed) > LINGER) {
        this.player.start();
        this.moved();
      }
      before = now;
      if (this.player.ended && !this.performing) this.stop();
      else this.timer = requestAnimationFrame(frame);
    };
    this.timer = requestAnimationFrame(frame);
  }

  /** Play from the start, and again after the end, until somebody stops it. */
  perform(): void {
    this.player.place(0);
    this.performing = true;
    this.play();
  }

  /** Play once from the start, which stands long enough to be read. */
  introduce(): void {
    this.player.place(0);
    this.play();
    this.player.stands(-READING);
  }

  stop(): void {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
    this.performing = false;
    this.sayPlaying(false);
  }

  private sayPlaying(playing: boolean): void {
    this.playButton.textContent = playing ? "❚❚ Pause" : "▶ Play";
    this.playButton.setAttribute("aria-pressed", String(playing));
  }

  /** Answer a key; whether it was one of ours. */
  key(event: KeyboardEvent): boolean {
    const acts: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.go(0),
      End: () => this.go(this.player.last),
      s: () => this.setSlow(!this.player.slow),
    };
    const key = keyOf(event);
    if (!Object.hasOwn(acts, key)) return false;
    acts[key]();
    return true;
  }

  destroy(): void {
    this.stop();
    window.clearTimeout(this.resting);
    this.listening.abort();
    const known = players();
    known.all = known.all.filter((player) => player !== this);
    if (known.active === this) known.active = null;
  }
}

/** What lies behind it is not meant by a key. */
const DIALOG = 'dialog, [role="dialog"]';

function players(): Players {
  if (!window.capsvizPlayers) {
    const known: Players = (window.capsvizPlayers = { all: [], active: null });
    document.addEventListener("keydown", (event) => {
      const ownPlace = ({ root }: PlayerControls): Element | null => root.closest("[data-own-keys]");
      const path = event.composedPath();
      const here = known.all.filter((each) => path.includes(ownPlace(each) ?? each.root));
      const within = here.find(({ root }) => path.includes(root)) ?? here.at(0);
      const active = known.active?.root.isConnected ? known.active : null;
      const touched = active && (!here.length || here.includes(active)) ? active : within;
      const player = touched ?? known.all.find((each) => each.root.isConnected);
      const own = player && ownPlace(player);
      const behind = !here.length && path.some((at) => at instanceof Element && at.matches(DIALOG));
      if (
        !player ||
        behind ||
        (own && !path.includes(own)) ||
        (event.repeat && [" ", "s"].includes(keyOf(event))) || // a key that is held
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        takesKeys(event)
      )
        return;
      if (player.key(event)) event.preventDefault();
    });
  }
  return window.capsvizPlayers;
}

/** Whether the key is meant for what has the focus: a field, a slider, or a button that space presses. */
function takesKeys(event: KeyboardEvent): boolean {
  const at = event.composedPath()[0];
  if (!(at instanceof HTMLElement)) return false;
  if (at.matches("input[type=range]") && [" ", "s"].includes(keyOf(event))) return false;
  const fields = "input, textarea, select, [role=slider], [role=textbox], [role=combobox]";
  if (at.isContentEditable || at.matches(fields)) return true;
  return at.matches(
    event.key === " "
      ? "button, a, summary, [role=button], [role=radio], [role=tab]"
      : "[role=radio], [role=tab], [role=option], [role=menuitem]",
  );
}
