// A walk from the capsule on stage to another one, straight on and along the sphere, as two strips and as a player.

import { aloud } from "../core/aloud";
import { paintImage } from "../core/canvas";
import { element, quietOutput, reveal } from "../core/dom";
import { indices } from "../core/numbers";
import { PlayerControls } from "../core/player-controls";
import type { Capsule } from "./network";
import { type HandPanel, OWN, type Workbench } from "./panel";
import { angleBetween, length, onTheWay } from "./interpolation";

const SHOTS = 9; // pictures in a strip
const TENTHS = 10;

interface Strip {
  readonly sphere: boolean;
  readonly root: HTMLElement;
  readonly name: HTMLButtonElement;
  readonly shots: { shot: HTMLButtonElement; canvas: HTMLCanvasElement }[];
}

interface Target {
  readonly number: number;
  readonly root: HTMLButtonElement;
  readonly canvas: HTMLCanvasElement;
}

export class Walk implements HandPanel {
  readonly root: HTMLElement;
  private readonly picks: HTMLButtonElement[];
  private readonly list: HTMLElement;
  private readonly places = element("div", {
    className: "targets",
    role: "group",
    "aria-label": "Where the walk ends",
  });
  private targets: Target[] = [];
  private readonly strips = [this.strip(false, "straight"), this.strip(true, "on the sphere")];
  private readonly reading = aloud(quietOutput("reading"));
  private readonly player: PlayerControls;
  private made = false;

  constructor(private readonly board: Workbench) {
    this.picks = board.data.classes.map((name, label) => {
      const pick = element("button", { type: "button", textContent: name, "aria-label": `walk to class ${name}` });
      pick.onclick = (event) => this.to([label, board.state.to[1]], event);
      return pick;
    });
    this.list = element("div", { className: "picks" }, element("span", { textContent: "to class" }), ...this.picks);
    this.player = new PlayerControls({
      count: TENTHS + 1,
      unit: "tenth of the way",
      name: (_, position) => `${Math.round((100 * position) / TENTHS)} %`,
      show: (position) => this.made && this.at(position / TENTHS),
      halted: () => board.forget(),
      linked: () => TENTHS * board.data.state.share,
    });
    this.made = true;
    this.root = element(
      "div",
      { className: "controls walk" },
      this.list,
      this.places,
      ...this.strips.map(({ root }) => root),
      this.player.root,
      this.reading,
    );
  }

  private strip(sphere: boolean, words: string): Strip {
    const shots = indices(SHOTS).map((i) => {
      const canvas = element("canvas");
      const share = i / (SHOTS - 1);
      const name = `${words}, ${Math.round(100 * share)} %`;
      const shot = element("button", { type: "button", "aria-label": name }, canvas);
      shot.onclick = (event) => {
        this.player.stop();
        this.player.place(TENTHS * share);
        this.along(sphere, event);
      };
      return { shot, canvas };
    });
    const name = element("button", { type: "button", className: "path", textContent: words });
    name.onclick = (event) => this.along(sphere, event);
    const root = element("div", { className: "strip" }, name, ...shots.map(({ shot }) => shot));
    return { sphere, root, name, shots };
  }

  private along(sphere: boolean, event: Event): void {
    this.board.state.sphere = sphere;
    this.board.moved(event.timeStamp);
    this.board.leave();
  }

  private to(target: [number, number], event: Event): void {
    this.board.state.to = target;
    this.refresh();
    this.board.moved(event.timeStamp);
    this.board.leave();
  }

  /** Go to a share of the way; in a player that runs no event of the visitor's is answered. */
  private at(share: number): void {
    const { board } = this;
    if (Math.abs(board.state.share - share) < 1e-9) return;
    board.state.share = share;
    board.moved(this.playing ? undefined : board.hand);
    board.hand = undefined;
    board.leaveSoon();
  }

  get playing(): boolean {
    return this.player.timer !== 0;
  }

  /** Both ends of the walk of one decoder, as masked capsules. */
  private ends(place: number): [Capsule, Capsule] {
    const { state } = this.board;
    return [[state.upper, this.board.movedPose(place)], this.end(place, state.to[1])];
  }

  /** The capsule at the end of a walk to an exemplar of the chosen class, or to the image's own capsule. */
  private end(place: number, exemplar: number): Capsule {
    const { state, data } = this.board;
    const [label] = state.to;
    const kept = this.board.decoder(place)?.exemplar(label, exemplar);
    return [label, exemplar === OWN || !kept ? data.decoders[place].poses[label] : kept];
  }

  capsules(place: number, share = this.board.state.share, sphere = this.board.state.sphere): Capsule[] {
    return onTheWay(...this.ends(place), share, sphere);
  }

  /** The pictures of other ends: what may be walked to, and what lies on the way. */
  refresh(): void {
    const { board } = this;
    const { state, data } = board;
    const decoder = board.decoder(data.lead);
    this.picks.forEach((pick, label) => pick.setAttribute("aria-pressed", String(label === state.to[0])));
    reveal(this.list, this.picks[state.to[0]]);
    if (!decoder) return;
    if (this.targets.length !== 1 + decoder.kept) {
      this.targets = [OWN, ...indices(decoder.kept)].map((number) => this.target(number));
      this.places.replaceChildren(...this.targets.map(({ root }) => root));
    }
    for (const { number, root, canvas } of this.targets) {
      paintImage(canvas, decoder.image, decoder.draw([this.end(data.lead, number)]));
      root.setAttribute("aria-pressed", String(number === state.to[1]));
    }
    for (const { sphere, shots } of this.strips) {
      shots.forEach(({ canvas }, i) => {
        paintImage(canvas, decoder.image, decoder.draw(this.capsules(data.lead, i / (SHOTS - 1), sphere)));
      });
    }
    if (!this.playing) this.player.place(TENTHS * state.share);
  }

  private target(number: number): Target {
    const own = number === OWN;
    const title = own
      ? "What routing made of this image for that class"
      : `The class capsule of a training image, number ${number + 1} of those that the model is surest of`;
    const canvas = element("canvas");
    const name = element("span", { textContent: own ? "this image" : `no. ${number + 1}` });
    const root = element("button", { type: "button", title }, canvas, name);
    root.onclick = (event) => this.to([this.board.state.to[0], number], event);
    return { number, root, canvas };
  }

  write(): void {
    const { board } = this;
    const { state, data } = board;
    const nearest = Math.round(state.share * (SHOTS - 1));
    for (const { sphere, name, shots } of this.strips) {
      const chosen = sphere === state.sphere;
      name.setAttribute("aria-pressed", String(chosen));
      shots.forEach(({ shot }, i) => shot.classList.toggle("here", chosen && i === nearest));
    }
    if (!board.decoder(data.lead)) return;
    const ends = this.ends(data.lead);
    const size = length(this.capsules(data.lead).map(([, numbers]) => length(numbers)));
    const angle = (angleBetween(...ends) * 180) / Math.PI;
    const whose = data.decoders.length > 1 ? `${data.decoders[data.lead].title}: ` : "";
    this.reading.textContent =
      `${whose}Length here ${size.toFixed(2)}, from ${length(ends[0][1]).toFixed(2)} ` +
      `to ${length(ends[1][1]).toFixed(2)}${Number.isNaN(angle) ? "" : `; angle between the two ${angle.toFixed(0)}°`}`;
  }

  destroy(): void {
    this.player.destroy();
  }
}
