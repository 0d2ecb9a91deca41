// One image seen by one amount of a change after the other: what networks say of it, and how their numbers go along.
// All amounts are here; the host hears at which the visitor left it.

import { minIndex, sum } from "d3-array";

import { Board, type Acknowledged, type Host } from "../core/board";
import { paintImage } from "../core/canvas";
import { element, roomBelow } from "../core/dom";
import { isolated } from "../core/letters";
import type { Look } from "../core/look";
import { indices, shown } from "../core/numbers";
import { PlayerControls } from "../core/player-controls";
import { type Scene, type SweepFields } from "./axis";
import { Activations, ImageRow, Numbers } from "./panels";
import "./sweep.css";

const CHART = 104; // CSS pixels of the pictures' heights, in ordinary type
const ROWS = 214;
const WIDE = 992; // CSS pixels from which all of it stands side by side, in ordinary type
const [LEAST, MOST] = [290, 560]; // of its height then, in ordinary type; between them it fills the window
const LOWEST = 48; // of a picture then, in ordinary type
const GAP = 9.6; // between them, in ordinary type
const BELOW = 78; // of the sentence on what the lines are, in ordinary type
const WHOLE = 8000; // milliseconds from one end to the other

interface Message extends SweepFields {
  readonly acknowledged: Acknowledged;
}

interface Chart<Kind> {
  readonly panel: Kind;
  readonly words: HTMLElement;
}

export class SweepBoard extends Board<Message> {
  private readonly go = (frame: number): void => this.controls?.go(frame);
  private readonly row = new ImageRow(this.go);
  private readonly image = element("canvas", { role: "img", className: "pixels" });
  private readonly drawing = element("canvas", { role: "img", className: "pixels" });
  private readonly saidOfImage = element("figcaption");
  private readonly saidOfDrawing = element("figcaption");
  private readonly drawn = element("figure", {}, this.drawing, this.saidOfDrawing);
  private readonly player = element("div", { className: "player" });
  private readonly pictures = element("div", { className: "pictures" });
  private readonly charts = element("div", { className: "charts" });
  private readonly rows = element("div", { className: "rows" });
  private readonly all = element("div", { className: "all" }, this.pictures, this.charts, this.rows);
  private activations: Chart<Activations>[] = [];
  private numbers: Chart<Numbers>[] = [];

  constructor(host: Host) {
    super(host, "sweep");
    this.pictures.append(element("figure", {}, this.image, this.saidOfImage), this.drawn);
    this.root.append(this.player, element("figure", { className: "images" }, this.row.canvas), this.all);
  }

  protected update(message: Message, before: Message | undefined): void {
    const turned = this.turned("amount", message, before);
    if (turned) this.controls?.halt();
    const { methods, panels, amounts, drawer } = message;
    // Those that are here stay: one of them may be in the hand.
    if (this.activations.length !== methods.length) {
      this.activations = methods.map((_, number) => chart(new Activations(number, this.go)));
      this.charts.replaceChildren(...this.activations.map(figure));
    }
    if (this.numbers.length !== panels.length) {
      this.numbers = panels.map((_, number) => chart(new Numbers(number, this.go)));
      this.rows.replaceChildren(...this.numbers.map(figure));
    }
    this.drawn.hidden = !drawer;
    const pace = WHOLE / amounts.length;
    if (this.controls) {
      Object.assign(this.controls.player, { hold: 0.3 * pace, glide: 0.7 * pace });
    } else {
      this.controls = new PlayerControls({
        count: amounts.length,
        show: () => this.layout(),
        unit: "amount",
        name: (index) => this.message?.names[index] ?? "",
        rest: (frame) => this.tell("amount", this.message?.amounts.at(frame ?? -1)),
        linked: () => this.message?.frame ?? null,
        hold: 0.3 * pace,
        glide: 0.7 * pace,
      });
      this.player.append(this.controls.root);
    }
    this.describe(message);
    if (before && this.controls.count !== amounts.length) {
      // Between the usual amounts one came or went: what is shown has another number now.
      const shown = before.amounts[this.controls.index];
      const number = minIndex(amounts, (amount) => Math.abs(amount - shown));
      if (this.controls.renumber(amounts.length, number) && !turned) {
        this.controls.stay(message.frame, message.acknowledged.amount);
        return;
      }
    }
    this.controls.stand(message.frame, message.acknowledged.amount);
  }

  /** The pictures that are the same at every amount, for those who do not see them. */
  private describe({ change, names, label, methods, panels }: Message): void {
    const range = `${change} from ${names[0]} to ${names[names.length - 1]}`;
    this.row.canvas.setAttribute("aria-label", `The image under ${range}`);
    this.activations.forEach(({ panel }, k) => {
      const { title, said } = methods[k];
      panel.canvas.setAttribute("aria-label", `${title}, activation of class ${label} under ${range}: ${said}`);
    });
    this.numbers.forEach(({ panel, words }, k) => {
      words.textContent = panels[k].title;
      panel.canvas.setAttribute("aria-label", `${panels[k].title}, under ${range}`);
    });
  }

  protected arrange(data: Message): void {
    const { controls, look } = this;
    if (!controls) return;
    const scene: Scene = { data, look, position: controls.position };
    this.row.fit(this.root.clientWidth, scene);
    this.row.draw(scene);
    this.say(data, controls.index);
    const wide = this.root.clientWidth >= WIDE * look.scale;
    this.all.classList.toggle("wide", wide);
    const room = (roomBelow(this.all) - BELOW * look.scale) / look.scale;
    const tall = Math.max(LEAST, Math.min(MOST, room)) * look.scale;
    const chart = wide ? sharing(tall, this.activations, 2, look) : CHART * look.scale;
    const rows = wide ? sharing(tall, this.numbers, 1, look) : ROWS * look.scale;
    const said = [this.saidOfImage, ...(data.drawer ? [this.saidOfDrawing] : [])].map((words) => ({ words }));
    const side = sharing(tall, said, 1, look);
    const [, down, across] = data.shape;
    for (const picture of [this.image, this.drawing]) {
      picture.style.maxWidth = wide ? `${(side * across) / down}px` : "";
    }
    for (const [charts, height] of [
      [this.activations, chart],
      [this.numbers, rows],
    ] as const) {
      for (const { panel } of charts) {
        panel.resize(panel.canvas.parentElement?.clientWidth ?? 0, height);
        panel.draw(scene);
      }
    }
    this.root.dataset.ready = "true";
  }

  /** What holds at one amount. */
  private say(data: Message, at: number): void {
    const { names, label, named, drawer, methods, shape } = data;
    const size = data.images.length / names.length;
    const part = (values: Float32Array): Float32Array => values.subarray(at * size, (at + 1) * size);
    paintImage(this.image, shape, part(data.images));
    this.saidOfImage.textContent = `The image at ${names[at]}`;
    this.image.setAttribute("aria-label", `The image at ${names[at]}`);
    if (data.drawn) {
      paintImage(this.drawing, shape, part(data.drawn));
      const text = `${drawer} draws its ${named[at]}`;
      this.saidOfDrawing.textContent = text;
      this.drawing.setAttribute("aria-label", `${text} at ${names[at]}`);
    }
    this.activations.forEach(({ words }, k) => {
      const { title, colour, others, said, lost } = methods[k];
      const [own, other] = [data[`own${k}`][at], data[`other${k}`][at]].map((value) => shown(value, 2));
      words.replaceChildren(
        element("i", { className: "square", style: `background:${colour}` }),
        element("strong", { textContent: title }),
        element("span", {
          textContent: `${isolated(label)}: ${own}, ${isolated(others[at])}: ${other}${lost[at] ? " ✗" : ""}`,
        }),
        element("span", { className: "lost", textContent: said }),
      );
    });
  }
}

/** Height of each picture where all of them, in so many columns and each with its words, share so much of it. */
function sharing(
  tall: number,
  charts: readonly Pick<Chart<unknown>, "words">[],
  columns: number,
  { scale }: Look,
): number {
  const rows = indices(Math.ceil(charts.length / columns));
  const words = rows.map((row) => {
    const own = charts.slice(row * columns, (row + 1) * columns);
    return Math.max(...own.map((each) => each.words.offsetHeight)) + GAP * scale;
  });
  return Math.max(LOWEST * scale, (tall + GAP * scale - sum(words)) / rows.length);
}

function chart<Kind>(panel: Kind): Chart<Kind> {
  return { panel, words: element("figcaption") };
}

function figure({ panel, words }: Chart<Activations | Numbers>): HTMLElement {
  return element("figure", {}, words, panel.canvas);
}
