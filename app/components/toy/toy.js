// A routing that can be taken into the hand: a few lower capsules, two parents, votes in the plane. Bundled behind
// shared/*.js and routing.js. Everything moves here; Python hears where the votes were left, for the link.

const SMALLEST = 330, BELOW = 40; // CSS pixels of a plane, and what stays free below the toy
const NEAR = 26; // CSS pixels from a vote's tip at which it can be taken

export default function ({ data, parentElement, setTriggerValue }) {
  return mount(Toy, parentElement, (toy) => toy.update(data, setTriggerValue));
}

class Toy extends Mounted {
  constructor(parent) {
    super(parent, { className: "toy" });
    Object.assign(this, { held: null, votesTold: new Told(), turnsTold: new Told() });
    this.root.capsvizToy = this; // for tests
    this.root.capsvizRoute = routeByAgreement;
  }

  resized() {
    this.measure();
    this.redraw();
  }

  /** The type that the page has at the moment: presenter mode enlarges it under a toy that stands. */
  measure() {
    const { fontFamily, fontSize } = getComputedStyle(this.root);
    Object.assign(this, { font: fontFamily, scale: parseFloat(fontSize) / 16 });
  }

  type(size) {
    return `bold ${(size * this.scale).toFixed(1)}px ${this.font}`;
  }

  /** Take over what Python says. */
  update(data, send) {
    Object.assign(this, { data, send });
    this.measure();
    if (this.votesTold.news(data.votes, data.heard.votes) && !this.held) this.votes = structuredClone(data.votes);
    if (this.turnsTold.news(data.iterations, data.heard.turns)) this.iterations = data.iterations;
    if (this.rows?.length !== this.votes.length) this.build();
    this.turn.value = this.iterations;
    this.route();
    this.transport.stand(data.frame, data.heard.frame);
  }

  build() {
    const { presets } = this.data;
    this.buttons = Object.entries(presets).map(([name, { votes, note }]) => {
      const button = element("button", { type: "button", textContent: name, title: note });
      button.onclick = () => this.take(votes);
      return button;
    });
    // All notes lie on one place, of which one is seen: whichever it is, what stands below keeps its place.
    this.notes = [...Object.values(presets).map(({ note }) => note), "Your own votes: they are in the link."]
      .map((textContent) => element("span", { textContent }));
    this.planes = [0, 1].map((j) => this.plane(j));
    this.rows = this.votes.map((_, i) => this.row(i));
    this.turn = element("input", { type: "range", min: 1, max: this.data.most, step: 1, "aria-label": "Iterations T" });
    this.turned = element("output", { className: "turns" });
    this.turn.oninput = () => {
      this.iterations = this.turn.valueAsNumber;
      this.route();
    };
    this.turn.onchange = () => {
      if (this.turnsTold.worth(this.iterations)) this.send("iterations", this.iterations);
    };
    this.transport?.destroy();
    this.transport = new Transport({
      count: this.iterations, show: () => this.redraw(), unit: "iteration",
      name: (index) => `iteration ${index + 1} of ${this.iterations}`,
      rest: (frame) => this.send("frame", frame ?? -1),
    });
    const heads = ["", "b₁", "û·v₁", "coupling c", "û·v₂", "b₂"];
    const table = element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((textContent) => element("th", { textContent })))),
      element("tbody", {}, ...this.rows.map(({ root }) => root)));
    this.root.replaceChildren(
      element("div", { className: "tools" }, ...this.buttons),
      element("div", { className: "note" }, ...this.notes),
      element("div", { className: "board" }, this.planes[0].root, element("div", { className: "middle" }, table), this.planes[1].root),
      element("div", { className: "below" }, this.transport.root,
        element("label", { className: "turn" }, element("b", { textContent: "T" }), this.turn, this.turned)),
    );
    this.transport.stand(this.data.frame, this.data.heard.frame);
  }

  plane(j) {
    const canvas = element("canvas", { role: "img" }), title = element("h4");
    const own = { canvas, title, root: element("figure", {}, title, canvas) };
    canvas.onpointerdown = (event) => this.grab(j, event);
    canvas.onpointermove = (event) => this.drag(j, event);
    canvas.onpointerup = canvas.onpointercancel = () => this.drop();
    return own;
  }

  row(i) {
    const cells = Array.from({ length: 4 }, () => element("td"));
    const on = (colour) => `background:${colour};color:${inkOn(channels(colour))}`;
    const shares = this.data.parents.map((colour) => element("span", { style: on(colour) }));
    const name = element("span", { className: "name", textContent: i + 1, style: on(this.data.colours[i]) });
    const bar = element("div", { className: "share" }, ...shares);
    const root = element("tr", {}, element("th", {}, name), cells[0], cells[1], element("td", {}, bar), cells[2], cells[3]);
    return { root, cells, shares };
  }

  /** Other votes, from a preset. */
  take(votes) {
    this.votes = structuredClone(votes);
    if (this.rows.length !== votes.length) this.build();
    this.route();
    this.tell();
  }

  tell() {
    if (this.votesTold.worth(this.votes)) this.send("votes", this.votes);
  }

  /** Route anew, and draw at the same place among the iterations. */
  route() {
    this.steps = routeByAgreement(this.votes, this.iterations);
    this.turned.textContent = this.iterations;
    if (this.transport.count !== this.iterations) this.transport.resize(this.iterations);
    else this.transport.place(this.transport.position);
    const text = JSON.stringify(this.votes);
    const named = Object.values(this.data.presets).findIndex(({ votes }) => JSON.stringify(votes) === text);
    this.buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === named)));
    this.notes.forEach((note, k) => note.classList.toggle("said", k === (named < 0 ? this.notes.length - 1 : named)));
  }

  // ------------------------------------------------------------------------------------------------------- the hand

  grab(j, event) {
    let best = NEAR * this.scale * (event.pointerType === "touch" ? 1.5 : 1);
    this.votes.forEach((vote, i) => {
      const { x, y } = this.place(vote[j]), far = Math.hypot(event.offsetX - x, event.offsetY - y);
      if (far < best) [best, this.held] = [far, { i, j }];
    });
    if (!this.held) return;
    this.planes[j].canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.redraw();
  }

  drag(j, event) {
    if (this.held?.j !== j) return;
    const { reach } = this.data, at = (pixels) => (pixels / this.side) * 2 * reach - reach;
    const limit = (value) => Math.round(100 * Math.max(-reach, Math.min(reach, value))) / 100;
    this.votes[this.held.i][j] = [limit(at(event.offsetX)), limit(-at(event.offsetY))];
    this.route();
  }

  drop() {
    if (!this.held) return;
    this.held = null;
    this.redraw();
    this.tell();
  }

  // ----------------------------------------------------------------------------------------------------- the picture

  /** Where on a plane's canvas a vector's tip lies. */
  place([x, y]) {
    const { reach } = this.data;
    return { x: ((x + reach) / (2 * reach)) * this.side, y: ((reach - y) / (2 * reach)) * this.side };
  }

  /** Two numbers, vectors or tables, one a share of the way to the other. */
  between(a, b, share) {
    return typeof a === "number" ? a + share * (b - a) : a.map((value, k) => this.between(value, b[k], share));
  }

  redraw() {
    if (!this.steps || !this.transport || !this.root.clientWidth) return;
    const position = Math.min(this.transport.position, this.steps.length - 1), first = Math.floor(position);
    const [from, to] = [this.steps[first], this.steps[Math.min(first + 1, this.steps.length - 1)]];
    const now = {};
    for (const name of ["logits", "couplings", "poses", "agreement"]) {
      now[name] = this.between(from[name], to[name], position - first);
    }
    this.side = Math.min(this.planes[0].root.clientWidth, Math.max(SMALLEST, this.room()));
    this.planes.forEach((plane, j) => this.drawPlane(plane, j, now));
    this.rows.forEach((row, i) => this.drawRow(row, i, now));
  }

  /** What the window leaves for the planes, the page scrolled to its top. */
  room() {
    let scrolled = 0;
    for (let at = this.root; at; at = at.parentElement ?? at.getRootNode().host) scrolled += at.scrollTop;
    const above = this.planes[0].canvas.getBoundingClientRect().top + scrolled, below = this.root.lastElementChild.offsetHeight;
    return window.innerHeight - above - below - BELOW;
  }

  drawPlane({ canvas, title }, j, now) {
    const { ink, colours, parents } = this.data, pen = surface(canvas, this.side, this.side);
    const length = Math.hypot(...now.poses[j]), origin = this.place([0, 0]);
    title.replaceChildren(
      element("span", { className: "square", style: `background:${parents[j]}` }), ` parent ${j + 1}: ‖v`,
      element("sub", { textContent: j + 1 }), `‖ = ${shown(length, 2)}`);
    canvas.setAttribute("aria-label", `votes for parent ${j + 1} and its pose of length ${shown(length, 2)}`);
    pen.strokeStyle = ink.grid;
    pen.lineWidth = 1;
    for (const line of ["x", "y"]) {
      pen.beginPath();
      pen.moveTo(line === "x" ? 0 : origin.x, line === "x" ? origin.y : 0);
      pen.lineTo(line === "x" ? this.side : origin.x, line === "x" ? origin.y : this.side);
      pen.stroke();
    }
    // What squash keeps v inside of.
    pen.strokeStyle = ink.muted;
    pen.setLineDash([5, 5]);
    pen.beginPath();
    pen.arc(origin.x, origin.y, this.side / (2 * this.data.reach), 0, 7);
    pen.stroke();
    pen.setLineDash([]);
    this.votes.forEach((vote, i) => this.arrow(pen, origin, this.place(vote[j]), 1.5 + 9 * now.couplings[i][j], colours[i]));
    this.arrow(pen, origin, this.place(now.poses[j]), 9, parents[j], true);
    this.votes.forEach((vote, i) => this.handle(pen, this.place(vote[j]), i, this.held?.i === i && this.held.j === j));
    this.name(pen, origin, this.place(now.poses[j]), `v${"₁₂"[j]}`);
  }

  /** A name beside the middle of an arrow, to the side that is up. */
  name(pen, from, tip, text) {
    const dx = tip.x - from.x, dy = tip.y - from.y, aside = ((dx > 0 ? -24 : 24) * this.scale) / (Math.hypot(dx, dy) || 1);
    const x = from.x + 0.55 * dx - aside * dy, y = from.y + 0.55 * dy + aside * dx;
    pen.font = this.type(20);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 5;
    pen.strokeStyle = this.data.ground;
    pen.fillStyle = this.data.ink.text;
    pen.strokeText(text, x, y);
    pen.fillText(text, x, y);
  }

  arrow(pen, from, to, width, colour, framed = false) {
    const along = Math.atan2(to.y - from.y, to.x - from.x), far = Math.hypot(to.x - from.x, to.y - from.y);
    const head = Math.min(far, 9 + 1.6 * width), stop = far - head;
    pen.save();
    pen.translate(from.x, from.y);
    pen.rotate(along);
    const shape = new Path2D(
      `M0 ${-width / 2}H${stop}V${-width / 2 - head * 0.38}L${far} 0L${stop} ${width / 2 + head * 0.38}V${width / 2}H0Z`);
    if (framed) {
      pen.strokeStyle = this.data.ground;
      pen.lineWidth = 4;
      pen.stroke(shape);
    }
    pen.fillStyle = colour;
    pen.fill(shape);
    pen.restore();
  }

  handle(pen, { x, y }, i, held) {
    pen.beginPath();
    pen.arc(x, y, (held ? 15 : 12) * this.scale, 0, 7);
    pen.fillStyle = this.data.colours[i];
    pen.fill();
    pen.strokeStyle = this.data.ground;
    pen.lineWidth = 2;
    pen.stroke();
    pen.font = this.type(15);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = inkOn(channels(this.data.colours[i]));
    pen.fillText(i + 1, x, y + 1);
  }

  drawRow({ cells, shares }, i, now) {
    const [b, c, d] = [now.logits[i], now.couplings[i], now.agreement[i]];
    [b[0], d[0], d[1], b[1]].forEach((value, cell) => (cells[cell].textContent = shown(value, 2)));
    shares.forEach((share, j) => {
      share.style.width = `${100 * c[j]}%`;
      share.textContent = c[j] >= 0.3 ? shown(c[j], 2) : "";
    });
  }
}
