// The player of dynamic and EM routing: one clock, one selected capsule, one chosen class, and every picture of them.
//
// Python sends the numbers once (shared/packed.js); while the visitor plays, steps, scrubs or points, nobody is asked.
// Python hears what has to be computed or kept in the link: another class, a capsule, an intervention.

export default function ({ data, parentElement, setTriggerValue }) {
  return mount(Board, parentElement, (board) => board.update(unpack(data), (action) => setTriggerValue("acted", action)));
}

class Board extends Mounted {
  constructor(parent) {
    super(parent, { className: "routing", role: "group" });
    this.picked = new Set();
    this.options = { solid: false, mass: true, difference: true };
    this.lookTold = new Told();
    const select = (i, more) => this.select(i, more), pick = (list, more) => this.pick(list, more);
    const choose = (j) => this.send({ upper: j }), looked = () => this.tell();
    this.cloud = new Cloud(select, pick, looked);
    this.map = new ShareMap(select, choose);
    this.tiles = new Tiles(select, pick);
    this.retina = new Retina();
    this.bars = new Bars(choose);
    this.lines = new ShareLines();
    this.vote = new VoteBars();
    this.algorithm = new Algorithm();
    this.list = new List(select, looked);
    // For tests and measurements: what is drawn, and the milliseconds that each drawing took.
    this.root.capsvizBoard = this;
    this.root.capsvizDrawings = this.drawings = [];
  }

  update(data, send) {
    // heard.any: read by nobody, it only makes the data differ, so that the board is told anew.
    const { capsule, group, alt, touched, frame, looked, heard, ...numbers } = data;
    this.send = send;
    this.run = new Run(numbers);
    this.touched = touched;
    this.colours = {
      ...this.run.ink,
      classes: this.run.class_colours,
      diverging: colourTable(this.run.diverging),
      sequential: colourTable(this.run.sequential),
    };
    this.capsule = capsule ?? this.run.strongest();
    for (const i of [...this.picked]) if (i >= this.run.lower) this.picked.delete(i);
    if (this.lookTold.news(looked, heard.look)) this.take(looked);
    for (const part of this.parts()) part.load(this.run);
    this.algorithm.load(this.run, (line) => this.transport.go(this.run.iteration(this.transport.index) * this.run.lines.length + line));
    this.root.setAttribute("aria-label", alt);
    for (const canvas of [this.cloud.canvas, this.map.canvas, this.tiles.canvas, this.retina.canvas, this.bars.canvas, this.lines.canvas, this.vote.canvas]) {
      canvas.setAttribute("aria-label", alt);
    }
    if (this.transport) this.transport.resize(this.run.count);
    else this.build(group);
    this.transport.group = group;
    this.transport.stand(frame, heard.frame); // else at the end: what came out is seen first, play starts at the beginning
    this.tool();
    this.layout();
  }

  /** Colours, and the type that the page has at the moment: presenter mode enlarges it under a board that stands. */
  measure() {
    const { fontFamily, fontSize } = getComputedStyle(this.root), scale = parseFloat(fontSize) / 15;
    this.look = {
      ...this.colours,
      font: fontFamily,
      px: (size) => `${(size * scale).toFixed(1)}px`,
      heading: Math.max(16, 12 * scale), // baseline of a heading at the upper edge of a canvas
      under: Math.max(24, 18 * scale), // where begins what it is the heading of
      foot: Math.max(20, 17 * scale), // height of a line of labels below
    };
  }

  /** How the board is looked at, as the link has it. */
  looked() {
    const { cloud, options, list } = this, round = (angle) => Math.round(100 * angle) / 100;
    const turned = options.solid ? [round(cloud.yaw), round(cloud.pitch)] : null;
    return { turned, zoom: cloud.zoom, bare: !options.mass, absolute: !options.difference, listed: list.order };
  }

  take({ turned, zoom, bare, absolute, listed }) {
    this.options = { solid: Boolean(turned), mass: !bare, difference: !absolute };
    this.cloud.solid = this.options.solid;
    this.cloud.zoom = zoom;
    if (turned) [this.cloud.yaw, this.cloud.pitch] = turned;
    this.list.order = listed;
  }

  tell() {
    const looked = this.looked();
    if (this.lookTold.worth(looked)) this.send({ look: looked });
  }

  parts() {
    const both = [this.cloud, this.map, this.tiles, this.retina, this.bars, this.lines, this.vote, this.list];
    if (this.run.routing !== "em") return both;
    this.curves ??= new Curves();
    this.logistic ??= new Logistic();
    return [...both, this.curves, this.logistic];
  }

  build(group) {
    const em = this.run.routing === "em";
    this.tools = element("div", { className: "tools" });
    this.place = {
      cloud: element("div", { className: "cloud" }, this.cloud.canvas),
      side: element("div", { className: "side" }, this.algorithm.root, this.lines.canvas),
      answer: element("div", { className: "answer" }, this.retina.canvas, this.bars.canvas),
      map: element("div", { className: "map" }, this.map.canvas),
      tiles: element("div", { className: "tiles" }, this.tiles.canvas),
      list: element("div", { className: "one" }, this.vote.canvas, this.list.root),
    };
    this.transport = new Transport({
      count: this.run.count, group, unit: "line", show: () => this.draw(), name: (index) => this.run.name(index),
      rest: (frame) => this.send({ frame }),
    });
    const { cloud, side, answer, map, tiles, list } = this.place;
    this.root.append(
      this.transport.root,
      element("div", { className: "main" }, cloud, side, answer),
      this.tools,
      map,
      element("div", { className: "detail" }, tiles, list),
    );
    if (em) {
      this.place.curves = element("div", {}, this.curves.canvas);
      this.place.logistic = element("div", {}, this.logistic.canvas);
      this.root.append(element("div", { className: "detail" }, this.place.curves, this.place.logistic));
    }
  }

  /** Buttons for how things are looked at, and for what is done to the capsules that are picked. */
  tool() {
    const { options, run } = this;
    const toggle = (name, label, title) => {
      const made = element("button", { type: "button", textContent: label, title, "aria-pressed": String(options[name]) });
      made.addEventListener("click", () => {
        options[name] = !options[name];
        this.cloud.solid = options.solid;
        this.tool();
        this.layout();
        this.tell();
      });
      return made;
    };
    const act = (label, title, action) => {
      const made = element("button", { type: "button", textContent: label, title });
      made.addEventListener("click", () => this.send(action()));
      return made;
    };
    const zoom = (label, by, title) => {
      const made = element("button", { type: "button", textContent: label, title, "aria-label": title });
      made.disabled = Math.abs(this.cloud.zoom + by) > CLOSEST;
      made.addEventListener("click", () => {
        this.cloud.zoom += by;
        this.tool();
        this.draw();
        this.tell();
      });
      return made;
    };
    const chosen = this.picked.size ? [...this.picked].sort((a, b) => a - b) : [this.capsule];
    const count = this.picked.size ? `${this.picked.size} picked` : `capsule ${this.capsule}`;
    const parts = [
      toggle("solid", "3-D", "Turn the votes in three dimensions"),
      element("span", { className: "zoom", role: "group", "aria-label": "Zoom of the votes" },
        zoom("−", -1, "Zoom out of the votes"), zoom("+", 1, "Zoom into the votes, about their origin")),
      toggle("mass", "Heat", "Lay the mean share of each place over the image"),
    ];
    if (run.base_shares) parts.push(toggle("difference", "Difference", "Show the difference to the untouched run"));
    parts.push(
      element("span", { className: "picked", textContent: count, title: "Click a capsule; draw a loop around votes, double-click a tile for its type; shift adds." }),
      act("Mute", "These capsules say nothing; route again", () => ({ mute: chosen })),
      act("Boost ×2", "These capsules say everything twice as loudly; route again", () => ({ boost: chosen })),
      act("Isolate", "Only these capsules speak; route again", () => ({ only: chosen })),
    );
    if (this.picked.size) {
      const clear = element("button", { type: "button", textContent: "Unpick", title: "Pick no capsules" });
      clear.addEventListener("click", () => (this.picked.clear(), this.tool(), this.draw()));
      parts.push(clear);
    }
    if (this.touched) parts.push(act(`Undo: ${this.touched}`, "The network untouched", () => ({ untouched: true })));
    this.tools.replaceChildren(...parts);
  }

  resized() {
    this.layout();
  }

  layout() {
    if (!this.run || !this.transport) return;
    const whole = this.root.clientWidth;
    if (!whole) return;
    this.measure();
    const wide = whole >= 760, gap = 18, em = this.run.routing === "em";
    this.root.classList.toggle("narrow", !wide);
    // As tall as the window leaves below the transport, within what reads well.
    const scrolled = document.querySelector(".stMain")?.scrollTop ?? 0;
    const above = this.root.getBoundingClientRect().top + scrolled + this.transport.root.offsetHeight + 24;
    const tall = Math.round(Math.max(360, Math.min(0.4 * whole, 700, window.innerHeight - above)));
    const side = wide ? Math.round(Math.max(250, 0.28 * whole)) : whole;
    const answer = wide ? Math.round(Math.min(300, 0.21 * whole)) : whole;
    const cloud = wide ? whole - side - answer - 2 * gap : whole;
    this.place.side.style.width = `${side}px`;
    this.cloud.layout(cloud, tall, this.look);
    const { under, foot } = this.look;
    this.retina.layout(Math.min(answer, Math.round(0.47 * tall) - foot), under, foot);
    const beside = wide ? 0 : this.retina.width + gap;
    this.bars.layout(answer - beside, wide ? tall - this.retina.height - 8 : this.retina.height, under);
    this.lines.layout(side, Math.max(96, tall - this.algorithm.root.offsetHeight - 10));
    this.map.layout(whole, Math.round(Math.max(180, 0.14 * whole)), under, foot);
    this.tiles.layout(wide ? Math.round(0.58 * whole) : whole, under);
    this.vote.layout(wide ? whole - Math.round(0.58 * whole) - gap : whole, 190);
    if (em) {
      this.curves.layout(wide ? Math.round(0.62 * whole) : whole, 400);
      this.logistic.layout(wide ? whole - Math.round(0.62 * whole) - gap : whole, 300);
    }
    this.draw();
  }

  draw() {
    if (!this.transport || !this.cloud.width) return;
    const began = performance.now(), view = this.run.view(this.transport.position), { look, options } = this;
    const selection = { capsule: this.capsule, picked: this.picked };
    this.cloud.draw(view, selection, look);
    this.algorithm.draw(view, selection);
    this.lines.draw(view, selection, look);
    this.retina.draw(view, selection, look, options.mass);
    this.bars.draw(view, look);
    this.map.draw(view, selection, look, options.difference);
    this.tiles.draw(view, selection, look, options.difference);
    this.vote.draw(view, selection, look);
    this.list.draw(view, selection, 6);
    if (this.run.routing === "em") {
      this.curves.draw(view, look);
      this.logistic.draw(view, look);
    }
    this.root.dataset.frame = String(this.transport.position);
    this.drawings.push(performance.now() - began);
    if (this.drawings.length > 2000) this.drawings.shift();
  }

  select(i, more) {
    if (more) return this.pick([i], true);
    this.capsule = i;
    this.tool();
    this.draw();
    this.send({ capsule: i });
  }

  pick(list, more) {
    if (!more) this.picked.clear();
    for (const i of list) {
      if (more && this.picked.has(i)) this.picked.delete(i);
      else this.picked.add(i);
    }
    this.tool();
    this.draw();
  }
}
