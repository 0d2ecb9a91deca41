// A signed number per primary capsule as small multiples, one tile per type, and what is known of one capsule beside
// it: where it looks on the image, what it says for every class. capsviz/figures/film.py says what arrives.

const LABEL = 20; // CSS pixels above and below the tiles in ordinary type, for the names of the first and the last type

class CapsuleMap {
  constructor(number, film) {
    Object.assign(this, { number, film });
    this.title = element("h4");
    this.note = element("p", { className: "note" });
    this.counts = element("p", { className: "counts" });
    this.canvas = element("canvas", { role: "img" });
    this.low = element("span"), this.middle = element("span", { textContent: "0" }), this.high = element("span");
    this.bar = element("div", { className: "bar" });
    const key = element("div", { className: "key" }, this.low, this.bar, this.high);
    this.root = element("figure", { className: "map" }, this.title, this.note, this.canvas, key, this.counts);
    this.canvas.addEventListener("pointermove", (event) => film.point(this.capsule(event)));
    this.canvas.addEventListener("pointerleave", () => film.point(null));
    this.canvas.addEventListener("click", (event) => film.choose(this.capsule(event)));
  }

  /** Take over what arrived: titles, key, values. */
  update(data, table) {
    const own = data.maps[this.number], { reach } = own;
    Object.assign(this, { data, own, table, values: data[`map${this.number}`] });
    this.lower = data.grid[0] * data.grid[1] * data.grid[2];
    this.now = new Float32Array(this.lower);
    this.picture = new Float32Array(data.cells.length).fill(NaN);
    this.title.textContent = own.title;
    this.note.textContent = own.note;
    this.canvas.setAttribute("aria-label", data.alt);
    const end = (value, beyond, sign) => (beyond ? sign : "") + shown(value, reach >= 0.01 ? 2 : 4);
    this.low.textContent = end(-reach, own.low < -reach, "≤ ");
    this.high.textContent = end(reach, own.high > reach, "≥ ");
    this.bar.style.background = `linear-gradient(to right, ${table.css.join(",")})`;
  }

  /** The numbers at a position: those of a frame, or between two of them. */
  at(position) {
    const place = Math.min(position, this.own.frames - 1), first = Math.floor(place), share = place - first;
    const from = first * this.lower, to = Math.min(first + 1, this.own.frames - 1) * this.lower;
    for (let i = 0; i < this.lower; i++) {
      this.now[i] = this.values[from + i] + share * (this.values[to + i] - this.values[from + i]);
    }
    return this.now;
  }

  draw(position, marked) {
    const { cells, shape: [down, across], ink } = this.data, now = this.at(position);
    for (let at = 0; at < cells.length; at++) if (cells[at] >= 0) this.picture[at] = now[cells[at]];
    const width = this.root.clientWidth;
    this.label = LABEL * this.film.scale;
    this.cell = Math.max(3, Math.min(width / across, this.film.tallest / down));
    this.left = Math.max(0, (width - across * this.cell) / 2);
    const pen = surface(this.canvas, width, down * this.cell + 2 * this.label);
    pen.imageSmoothingEnabled = false;
    const { reach } = this.own, tiles = raster(this.picture, across, down, this.table, -reach, reach);
    pen.drawImage(tiles, this.left, this.label, across * this.cell, down * this.cell);
    this.frames(pen, ink);
    for (const [capsule, colour] of marked) this.mark(pen, capsule, colour);
    if (this.own.counted) this.count(now);
  }

  /** A thin frame around every tile, and the names of the first and the last type. */
  frames(pen, ink) {
    const [rows, columns, types] = this.data.grid, perLine = Math.floor((this.data.shape[1] + 1) / (columns + 1));
    pen.strokeStyle = ink.grid;
    pen.lineWidth = 1;
    pen.fillStyle = ink.muted;
    pen.font = this.film.type(14);
    for (let type = 0; type < types; type++) {
      const x = this.left + (type % perLine) * (columns + 1) * this.cell;
      const y = this.label + Math.floor(type / perLine) * (rows + 1) * this.cell;
      pen.strokeRect(x - 0.5, y - 0.5, columns * this.cell + 1, rows * this.cell + 1);
      // Named outwards from the tile's outer edge, where a narrow tile leaves room.
      pen.textAlign = type ? "right" : "left";
      if (type === 0) pen.fillText("type 0", x, y - 0.25 * this.label);
      if (type === types - 1) pen.fillText(`type ${type}`, x + columns * this.cell, y + rows * this.cell + 0.75 * this.label);
    }
  }

  mark(pen, capsule, colour) {
    const at = this.data.cells.indexOf(capsule), across = this.data.shape[1];
    if (at < 0) return;
    const x = this.left + (at % across) * this.cell, y = this.label + Math.floor(at / across) * this.cell;
    for (const [stroke, wide] of [[this.data.ground, 6], [colour, 3]]) {
      pen.strokeStyle = stroke;
      pen.lineWidth = wide;
      pen.strokeRect(x - 1, y - 1, this.cell + 2, this.cell + 2);
    }
  }

  count(now) {
    let below = 0, above = 0;
    for (const value of now) value < 0 ? below++ : value > 0 && above++;
    const part = (number) => (this.data.maps.length > 1 ? "" : ` (${((100 * number) / now.length).toFixed(1)} %)`);
    const square = (colour) => element("span", { className: "square", style: `background:${colour}` });
    this.counts.replaceChildren(
      square(this.data.negative), element("b", { textContent: ` ${below}` }), ` negative${part(below)}    `,
      square(this.data.positive), element("b", { textContent: ` ${above}` }), ` positive${part(above)}`,
    );
  }

  /** The capsule under the pointer, null in a gap. */
  capsule(event) {
    const box = this.canvas.getBoundingClientRect(), [down, across] = this.data.shape;
    const column = Math.floor((event.clientX - box.left - this.left) / this.cell);
    const row = Math.floor((event.clientY - box.top - this.label) / this.cell);
    if (column < 0 || row < 0 || column >= across || row >= down) return null;
    const capsule = this.data.cells[row * across + column];
    return capsule < 0 ? null : capsule;
  }
}

/** The image, and on it what a capsule sees. */
class Sight {
  constructor(film) {
    this.film = film;
    this.canvas = element("canvas", { role: "img", "aria-label": "the image, with the field that the capsule sees" });
    this.root = element("figure", { className: "sight" }, element("h4", { textContent: "What it sees" }), this.canvas);
  }

  update(data) {
    this.data = data;
    this.picture = paint(new OffscreenCanvas(1, 1), data.image, data.pixels);
  }

  draw(capsule) {
    const [, height, width] = this.data.image, across = Math.min(this.root.clientWidth, 190);
    const unit = across / width, pen = surface(this.canvas, across, height * unit);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.picture, 0, 0, width * unit, height * unit);
    if (capsule === null) return;
    const [, columns, types] = this.data.grid, place = Math.floor(capsule / types);
    const field = seen(this.data.field, this.data.image, [Math.floor(place / columns), place % columns]);
    const [y, x, bottom, right] = field.map((edge) => edge * unit);
    pen.fillStyle = "rgba(0,0,0,0.55)";
    pen.fill(new Path2D(`M0 0H${across}V${height * unit}H0Z M${x} ${y}V${bottom}H${right}V${y}Z`), "evenodd");
    pen.strokeStyle = "#ffb26b"; // on the image itself, which is dark on both pages
    pen.lineWidth = 3;
    pen.strokeRect(x + 1.5, y + 1.5, right - x - 3, bottom - y - 3);
  }
}

/** A capsule's number for every class, as bars to both sides of zero. */
class ClassBars {
  constructor(film) {
    this.film = film;
    this.title = element("h4");
    this.canvas = element("canvas", { role: "img" });
    this.root = element("figure", { className: "class-bars" }, this.title, this.canvas);
  }

  update(data) {
    this.data = data;
    this.title.textContent = `Its ${data.maps[0].symbol} for every class`;
  }

  draw(capsule) {
    const { classes, per_class: all, ink, upper } = this.data, { scale } = this.film;
    const room = (this.film.below(this.canvas) - 8) / classes.length; // all of them on the screen, if they can be read
    const line = scale * Math.max(16, Math.min(22, 220 / classes.length, room / scale));
    const width = this.root.clientWidth, pen = surface(this.canvas, width, classes.length * line);
    pen.font = this.film.type(14);
    pen.textBaseline = "middle";
    const name = Math.max(...classes.map((text) => pen.measureText(text).width)) + 10;
    const values = classes.map((_, j) => (capsule === null ? 0 : all[capsule * classes.length + j]));
    const reach = Math.max(...values.map(Math.abs)) || 1, number = 58 * scale;
    const side = (width - name - 2 * number) / 2, zero = name + number + side;
    const words = values.map((value, j) => {
      const y = (j + 0.5) * line, end = zero + (value / reach) * side;
      pen.fillStyle = j === upper ? ink.text : ink.muted;
      pen.font = this.film.type(14, j === upper);
      pen.textAlign = "left";
      pen.fillText(classes[j], 0, y);
      if (capsule === null) return "";
      pen.fillStyle = value < 0 ? this.data.negative : this.data.positive;
      pen.fillRect(Math.min(zero, end), y - line * 0.36, Math.abs(end - zero), line * 0.72);
      pen.fillStyle = ink.text;
      pen.textAlign = value < 0 ? "right" : "left";
      pen.fillText(shown(value), end + (value < 0 ? -5 : 5), y);
      return `class ${classes[j]} ${shown(value)}`;
    });
    pen.fillStyle = ink.muted;
    pen.fillRect(zero - 0.5, 0, 1, classes.length * line);
    this.canvas.setAttribute("aria-label", words.join(", "));
  }
}
