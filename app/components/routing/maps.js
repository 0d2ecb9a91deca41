// Who gives how much to whom: all capsules × all classes, the chosen class over the grid, and over the image.

/** Couplings (EM: responsibilities) of every capsule, grouped by type, for every class. */
class ShareMap {
  constructor(onSelect, onClass) {
    Object.assign(this, { onSelect, onClass });
    this.canvas = element("canvas", { role: "img", className: "pointable" });
    this.canvas.addEventListener("click", (event) => this.click(event));
  }

  load(run) {
    this.run = run;
    const places = run.rows * run.columns;
    this.order = [...Array(run.lower).keys()].map((x) => (x % places) * run.types + Math.floor(x / places));
  }

  layout(width, height, top, bottom) {
    Object.assign(this, { width, height, top, bottom });
  }

  draw(view, { capsule }, look, difference) {
    const { run } = this, J = run.upperCount, pen = surface(this.canvas, this.width, this.height);
    const values = new Float32Array(run.pairs), compared = difference && view.baseShares;
    for (let x = 0; x < run.lower; x++) {
      for (let j = 0; j < J; j++) {
        const at = this.order[x] * J + j;
        values[j * run.lower + x] = compared ? view.shares[at] - view.baseShares[at] : view.shares[at] - 1 / J;
      }
    }
    this.left = Math.max(40, 10 + roomFor(pen, run.classes, 13, look, 0.2 * this.width));
    const across = this.width - this.left - 4, down = this.height - this.top - this.bottom, row = down / J;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(raster(values, run.lower, J, look.diverging, -run.reach, run.reach), this.left, this.top, across, down);
    pen.font = `${look.px(13)} ${look.font}`;
    pen.textAlign = "right";
    for (let j = 0; j < J; j++) {
      pen.fillStyle = j === run.upper ? look.accent : look.muted;
      pen.font = `${j === run.upper ? "bold " : ""}${look.px(13)} ${look.font}`;
      pen.fillText(fitted(pen, run.classes[j], this.left - 6), this.left - 5, this.top + (j + 0.5) * row + 4.5);
    }
    pen.strokeStyle = look.accent;
    pen.lineWidth = 2;
    pen.strokeRect(this.left, this.top + run.upper * row, across, row);
    const x = this.left + ((this.order.indexOf(capsule) + 0.5) * across) / run.lower;
    line(pen, x, this.top - 3, x, this.top + down + 3);
    pen.textAlign = "left";
    pen.font = `${look.px(13)} ${look.font}`;
    pen.fillStyle = look.muted;
    const every = Math.max(1, Math.ceil(run.types / 8));
    for (let kind = 0; kind < run.types; kind += every) {
      pen.fillText(`type ${kind}`, this.left + (kind * across) / run.types, this.height - 5);
    }
    this.title(pen, look, compared, run.sharesName(run.shareStep(view.t, view.line)), values);
  }

  title(pen, look, compared, name, values) {
    const { run } = this, [low, high] = [-run.reach, run.reach];
    pen.fillStyle = look.text;
    pen.font = `600 ${look.px(15)} ${look.font}`;
    const whole = compared ? `${name}: difference to the untouched run` : `${name} of all ${run.lower} capsules`;
    pen.fillText(fitted(pen, whole, this.width - this.left - 270), this.left, look.heading);
    const middle = compared ? 0 : 1 / run.upperCount;
    // A share is never below 0: the bar begins there, at the colour that a share of 0 has.
    const least = compared ? low : Math.max(low, -middle);
    const colours = look.diverging.css.slice(look.diverging.at(least, low, high));
    const [below, above] = [values.some((value) => value < least - 1e-6), values.some((value) => value > high + 1e-6)];
    const ends = [(below ? "≤ " : "") + shown(middle + least, 3), (above ? "≥ " : "") + shown(middle + high, 3)];
    scaleBar(pen, this.width - 4, 5, colours, ...ends, look);
  }

  click(event) {
    const at = pointed(this.canvas, event), { run } = this;
    const x = at.x - this.left, across = this.width - this.left - 4;
    const j = Math.floor(((at.y - this.top) / (this.height - this.top - this.bottom)) * run.upperCount);
    if (j < 0 || j >= run.upperCount) return;
    if (x < 0) this.onClass(j);
    else this.onSelect(this.order[Math.min(run.lower - 1, Math.floor((x / across) * run.lower))], event.shiftKey);
  }
}

/** The chosen class's shares in the geometry of the primary capsules: one tile of rows × columns per type. */
class Tiles {
  constructor(onSelect, onPick) {
    Object.assign(this, { onSelect, onPick });
    this.canvas = element("canvas", { role: "img", className: "pointable" });
    this.canvas.addEventListener("click", (event) => this.hit(event, (i) => this.onSelect(i, event.shiftKey)));
    this.canvas.addEventListener("dblclick", (event) => this.hit(event, (i) => this.onPick(this.type(i), event.shiftKey)));
  }

  load(run) {
    this.run = run;
    this.across = Math.min(run.types, Math.ceil(Math.sqrt(2 * run.types)));
    this.down = Math.ceil(run.types / this.across);
  }

  layout(width, top) {
    const { run } = this;
    this.cell = Math.max(3, Math.floor((width - 8) / (this.across * (run.columns + 1))));
    Object.assign(this, { width, top, height: this.down * (run.rows + 1) * this.cell + top });
  }

  corner(kind) {
    const { run, cell } = this;
    return [(kind % this.across) * (run.columns + 1) * cell, this.top + Math.floor(kind / this.across) * (run.rows + 1) * cell];
  }

  draw(view, { capsule, picked }, look, difference) {
    const { run, cell } = this, J = run.upperCount, pen = surface(this.canvas, this.width, this.height);
    const compared = difference && view.baseShares;
    for (let i = 0; i < run.lower; i++) {
      const [x, y] = this.spot(i), at = i * J + run.upper;
      const value = compared ? view.shares[at] - view.baseShares[at] : view.shares[at] - 1 / J;
      pen.fillStyle = look.diverging.css[look.diverging.at(value, -run.reach, run.reach)];
      pen.fillRect(x, y, cell - 0.5, cell - 0.5);
      if (run.gains[i] === 0) cross(pen, x, y, cell - 0.5, look.muted);
    }
    pen.lineWidth = 2;
    pen.strokeStyle = look.text;
    for (const i of picked) pen.strokeRect(...this.spot(i), cell - 0.5, cell - 0.5);
    pen.lineWidth = 3;
    pen.strokeStyle = look.accent;
    const [x, y] = this.spot(capsule);
    pen.strokeRect(x - 1.5, y - 1.5, cell + 2.5, cell + 2.5);
    pen.font = `600 ${look.px(15)} ${look.font}`;
    pen.fillStyle = look.text;
    pen.fillText(`${run.symbol} to ${run.classes[run.upper]}, ${run.rows} × ${run.columns} × ${run.types} types`, 0, look.heading);
  }

  spot(i) {
    const [row, column, kind] = this.run.place(i), [x, y] = this.corner(kind);
    return [x + column * this.cell, y + row * this.cell];
  }

  type(i) {
    return [...Array(this.run.rows * this.run.columns).keys()].map((p) => p * this.run.types + (i % this.run.types));
  }

  hit(event, act) {
    const at = pointed(this.canvas, event), { run, cell } = this;
    const x = at.x, y = at.y - this.top;
    const tileX = Math.floor(x / ((run.columns + 1) * cell)), tileY = Math.floor(y / ((run.rows + 1) * cell));
    const column = Math.floor(x / cell) % (run.columns + 1), row = Math.floor(y / cell) % (run.rows + 1);
    const kind = tileY * this.across + tileX;
    if (x < 0 || y < 0 || tileX >= this.across || column >= run.columns || row >= run.rows || kind >= run.types) return;
    act((row * run.columns + column) * run.types + kind);
  }
}

/** The image, how much each place of it gives to the chosen class, and what the selected capsule sees of it. */
class Retina {
  constructor() {
    this.canvas = element("canvas", { role: "img" });
  }

  load(run) {
    this.run = run;
    this.picture = paint(new OffscreenCanvas(1, 1), run.image_shape, run.image);
    // The same colours in every iteration and for every class, so that one can be compared with another.
    this.farthest = 1e-4;
    for (let t = 0; t < run.iterations; t++) {
      for (let j = 0; j < run.upperCount; j++) {
        for (const mean of this.means(run.part(run.shares, t, run.pairs), j)) {
          this.farthest = Math.max(this.farthest, Math.abs(mean - 1 / run.upperCount));
        }
      }
    }
  }

  /** Mean share of each place for a class. */
  means(shares, upper) {
    const { run } = this, J = run.upperCount, means = new Float32Array(run.rows * run.columns);
    for (let i = 0; i < run.lower; i++) means[Math.floor(i / run.types)] += shares[i * J + upper] / run.types;
    return means;
  }

  layout(width, top, foot) {
    const [, rows, columns] = this.run.image_shape;
    Object.assign(this, { width, top, foot, height: (width * rows) / columns + top + foot });
  }

  /** Less than the even share blue, more orange, the even share clear; share: −1..1 of the farthest. */
  heat(share) {
    return share < 0 ? `rgba(70,160,255,${-0.85 * share})` : `rgba(255,150,40,${0.85 * share})`;
  }

  draw(view, { capsule }, look, mass) {
    const { run } = this, pen = surface(this.canvas, this.width, this.height);
    const unit = this.width / run.image_shape[2], { stride, size, beyond } = run.field ?? {};
    mass &&= Boolean(run.field);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.picture, 0, this.top, this.width, this.height - this.top - this.foot);
    pen.font = `600 ${look.px(15)} ${look.font}`;
    pen.fillStyle = look.text;
    const whole = mass ? `Mean ${run.symbol} to ${run.classes[run.upper]}, by place` : "The image";
    const short = mass && pen.measureText(whole).width > this.width;
    pen.fillText(fitted(pen, short ? `Mean ${run.symbol}, by place` : whole, this.width), 0, look.heading);
    if (mass) {
      const even = 1 / run.upperCount, least = Math.max(0, even - this.farthest);
      this.means(view.shares, run.upper).forEach((mean, p) => {
        const place = [Math.floor(p / run.columns), p % run.columns];
        const [top, left] = place.map((at, axis) => (at - 0.5) * stride[axis] - beyond[axis] + size[axis] / 2);
        pen.fillStyle = this.heat((mean - even) / this.farthest);
        pen.fillRect(left * unit, this.top + top * unit, stride[1] * unit - 1, stride[0] * unit - 1);
      });
      const colours = Array.from({ length: 64 }, (_, k) => this.heat((least - even + ((even + this.farthest - least) * k) / 63) / this.farthest));
      scaleBar(pen, this.width, this.height - 13, colours, shown(least, 2), shown(even + this.farthest, 2), look, this.width - 90);
    }
    if (!run.field) return;
    const [top, left, bottom, right] = run.fieldOf(capsule);
    pen.strokeStyle = "#ff9628";
    pen.lineWidth = 3;
    pen.strokeRect(left * unit + 1.5, this.top + top * unit + 1.5, (right - left) * unit - 3, (bottom - top) * unit - 3);
  }
}

function cross(pen, x, y, size, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  line(pen, x, y, x + size, y + size);
  line(pen, x + size, y, x, y + size);
}

/** The width that the longest of some names takes in a size, up to a most: beyond that they are cut. */
function roomFor(pen, names, size, look, most) {
  pen.font = `bold ${look.px(size)} ${look.font}`;
  return Math.min(most, Math.max(...names.map((name) => pen.measureText(name).width)));
}

/** Text cut to a width. */
function fitted(pen, text, width) {
  let short = text;
  while (short.length > 1 && pen.measureText(short).width > width) short = short.slice(0, -1);
  return short;
}

/** A colour scale that ends at x, with its ends in numbers. */
function scaleBar(pen, x, y, colours, low, high, look, wide = 110) {
  pen.font = `${look.px(13)} ${look.font}`;
  pen.fillStyle = look.muted;
  pen.textAlign = "right";
  pen.fillText(high, x, y + 11);
  const right = x - pen.measureText(high).width - 6;
  for (let k = 0; k < wide; k++) {
    pen.fillStyle = colours[Math.round(((colours.length - 1) * k) / (wide - 1))];
    pen.fillRect(right - wide + k, y, 1.5, 13);
  }
  pen.fillStyle = look.muted;
  pen.fillText(low, right - wide - 6, y + 11);
  pen.textAlign = "left";
}
