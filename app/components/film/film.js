// Maps over the geometry, frame by frame, and what stands beside them: all frames are here, no server is asked. Python
// hears of a capsule that is clicked, and selects it everywhere, and of the frame at which the player was left. Bundled
// behind shared/*.js, maps.js, charts.js and lines.js.

const BELOW = 110; // CSS pixels in ordinary type under a map's tiles: its key, its counts, what is said of a capsule
const WHOLE = 9000; // milliseconds that a film of many frames takes from start to end

export default function ({ data, parentElement, setTriggerValue }) {
  return mount(Film, parentElement, (film) => film.update(unpack(data), setTriggerValue));
}

class Film extends Mounted {
  constructor(parent) {
    super(parent, { className: "film" });
    Object.assign(this, { pointed: null, chosen: null, parts: [] });
    this.root.capsvizFilm = this; // for tests
  }

  resized() {
    this.measure();
    this.fit();
    this.redraw();
  }

  /** The type that the page has at the moment: presenter mode enlarges it under a film that stands. */
  measure() {
    const { fontFamily, fontSize } = getComputedStyle(this.root);
    Object.assign(this, { font: fontFamily, scale: parseFloat(fontSize) / 16 });
  }

  /** Take over what Python says. */
  update(data, send) {
    Object.assign(this, { data, send, chosen: data.capsule });
    this.measure();
    const form = JSON.stringify([data.maps.length, data.curves.length, data.lines.length, data.histogram, !!data.image, !!data.per_class]);
    if (form !== this.form) this.build((this.form = form));
    const table = colourTable(data.scale);
    for (const part of this.parts) part.update(data, table);
    this.best = this.strongest();
    this.fit();
    this.plays(data.frames.length);
    this.redraw();
  }

  /** How high tiles may be, so that the numbers below them are on the screen; without room for that one has to scroll. */
  fit() {
    if (!this.data) return;
    const room = this.below(this.maps[0].canvas) - BELOW * this.scale;
    this.tallest = room < 60 ? 260 : Math.max(160, Math.min(room, 0.44 * window.innerHeight));
  }

  /** CSS pixels from the top of a canvas to the lower edge of the window, the page not scrolled. */
  below(canvas) {
    const scrolled = document.querySelector(".stMain")?.scrollTop ?? 0;
    return window.innerHeight - canvas.getBoundingClientRect().top - scrolled;
  }

  build() {
    const { data } = this;
    this.maps = data.maps.map((_, number) => new CapsuleMap(number, this));
    this.charts = data.curves.map((_, number) => new LineChart(number, this));
    this.spread = data.histogram ? new Histogram(this) : null;
    this.sight = data.image ? new Sight(this) : null;
    this.bars = data.per_class ? new ClassBars(this) : null;
    this.readout = element("p", { className: "readout" });
    this.lines = data.lines.length ? new Lines() : null;
    const beside = [this.sight, this.bars, ...this.charts].filter(Boolean);
    this.parts = [...this.maps, ...beside, ...[this.spread, this.lines].filter(Boolean)];
    const below = this.spread ? [this.readout, this.spread.root] : [this.readout];
    const maps = element("div", { className: "maps" }, ...this.maps.map(({ root }) => root), ...below);
    const side = element("div", { className: "beside" }, ...beside.map(({ root }) => root));
    this.player = element("div", { className: "player" });
    const above = [this.player, ...(this.lines ? [this.lines.root] : [])];
    this.root.replaceChildren(...above, maps, ...(beside.length ? [side] : []));
    this.root.classList.toggle("pair", data.maps.length > 1);
    this.root.classList.toggle("charted", this.charts.length > 0);
  }

  /** A transport for as many frames; a still has none. It stands where the link says, else where it all leads. */
  plays(count) {
    if (this.transport && this.transport.count === count && count > 1) {
      this.transport.place(this.transport.position);
      return this.transport.stand(this.data.frame, this.data.heard.frame);
    }
    this.transport?.destroy();
    this.player.replaceChildren();
    this.transport = null;
    if (count < 2) return;
    const pace = Math.min(1000, WHOLE / count);
    this.transport = new Transport({
      count, show: () => this.redraw(), name: (index) => this.data.frames[index], hold: pace * 0.5, glide: pace * 0.5,
      rest: (frame) => this.send("frame", frame ?? -1),
    });
    this.player.append(this.transport.root);
    this.transport.stand(this.data.frame, this.data.heard.frame);
  }

  /** A font of so many CSS pixels in ordinary type. */
  type(size, bold = false) {
    return `${bold ? "bold " : ""}${(size * this.scale).toFixed(1)}px ${this.font}`;
  }

  get position() {
    return this.transport?.position ?? 0;
  }

  redraw() {
    if (!this.data || !this.root.clientWidth) return;
    const looked = this.pointed ?? this.chosen;
    const marked = [];
    if (this.chosen !== null) marked.push([this.chosen, this.data.ink.accent]);
    if (this.pointed !== null) marked.push([this.pointed, this.data.ink.text]);
    for (const map of this.maps) map.draw(this.position, marked);
    this.sight?.draw(looked);
    this.bars?.draw(looked);
    this.spread?.draw(this.maps[0].now);
    for (const chart of this.charts) chart.draw(this.position);
    this.lines?.draw(this.position, looked ?? this.best);
    this.say(looked);
    this.root.dataset.ready = "true";
  }

  /** The capsule whose number on the first map ends up largest. */
  strongest() {
    const { map0, maps, grid } = this.data, lower = grid[0] * grid[1] * grid[2], from = (maps[0].frames - 1) * lower;
    let best = 0;
    for (let i = 1; i < lower; i++) if (Math.abs(map0[from + i]) > Math.abs(map0[from + best])) best = i;
    return best;
  }

  /** The capsule that is looked at, in words and numbers. */
  say(capsule) {
    if (capsule === null) {
      this.readout.textContent = "Click a capsule to select it on every page.";
      return;
    }
    const [, columns, types] = this.data.grid, place = Math.floor(capsule / types);
    const where = `capsule ${capsule}: row ${Math.floor(place / columns)} column ${place % columns} type ${capsule % types}`;
    const values = this.maps.map(({ own, now }) => `${own.symbol} = ${shown(now[capsule], 4)}`).join(",  ");
    this.readout.replaceChildren(`${where},  `, element("b", { textContent: values }));
  }

  point(capsule) {
    if (capsule === this.pointed) return;
    this.pointed = capsule;
    if (!this.transport?.timer) this.redraw(); // while it plays, the next frame does
  }

  /** Select a capsule, or none where it was selected already. */
  choose(capsule) {
    if (capsule === null) return;
    this.chosen = capsule === this.chosen ? null : capsule;
    this.redraw();
    this.send("capsule", this.chosen ?? -1);
  }
}
