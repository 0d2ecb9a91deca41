// The votes for the chosen class, and the class among them: flat, or turned in three dimensions.

// Radius in pixels of a vote whose share is 1; areas are in proportion. Responsibilities come close to 1, where couplings
// seldom pass a fifth.
const POINT = { dr: 13, em: 7 };
const FRAME = { left: 46, right: 12, top: 30, bottom: 40 }; // in type of 13 pixels
const INSET = 9; // pixels from the frame to where a far vote ends
const WHOLE = 13; // pixels around that place in which it is still drawn
const CLOSER = 1.5, CLOSEST = 6; // what a step of the zoom enlarges by, and how many there are to either side

/**
 * From where to where: all fixed values and the votes but the farthest on either side. fenced: nor those beyond Tukey's
 * fences, one and a half times the middle half's width away from it: few votes far out would leave the others no room.
 */
function span(values, fixed, far, fenced) {
  const sorted = values.toSorted((a, b) => a - b), last = sorted.length - 1;
  let low = sorted[Math.floor(far * last)], high = sorted[Math.ceil((1 - far) * last)];
  if (fenced) {
    const [first, third] = [sorted[Math.floor(0.25 * last)], sorted[Math.ceil(0.75 * last)]], fence = 1.5 * (third - first);
    [low, high] = [Math.max(low, first - fence), Math.min(high, third + fence)];
  }
  return [Math.min(low, ...fixed), Math.max(high, ...fixed)];
}

class Cloud {
  constructor(onSelect, onPick, onTurned) {
    Object.assign(this, { onSelect, onPick, onTurned, solid: false, yaw: 0.6, pitch: 0.35, zoom: 0, loop: null });
    this.canvas = element("canvas", { role: "img", tabIndex: -1 });
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.drag(event));
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.hovered = -1;
  }

  /** The numbers of another run: where everything lies, and how large it is drawn. */
  load(run) {
    this.run = run;
    this.solid &&= run.explained.length > 2;
  }

  layout(width, height, look) {
    const wider = parseFloat(look.px(13)) / 13;
    this.frame = Object.fromEntries(Object.entries(FRAME).map(([side, room]) => [side, room * wider]));
    Object.assign(this, { width, height });
    const seen = [...Array(this.run.lower).keys()].map((i) => this.turned(this.run.places.subarray(3 * i, 3 * i + 3)));
    const heads = [...Array(this.run.iterations).keys()].map((t) => this.turned(this.run.heads.subarray(3 * t, 3 * t + 3)));
    const far = this.run.routing === "dr" ? 0.01 : 0.04, fenced = this.run.routing === "em"; // a Gaussian claims the middle of a wide cloud
    const fixed = [...heads, this.turned(this.run.origin)];
    let [left, right] = span(seen.map(([x]) => x), fixed.map(([x]) => x), far, fenced);
    let [low, high] = span(seen.map(([, y]) => y), fixed.map(([, y]) => y), far, fenced);
    if (this.solid) { // as far in every direction, so that nothing jumps while it is turned
      const reach = span(seen.map((point) => Math.hypot(...point)), fixed.map((point) => Math.hypot(...point)), far, fenced)[1];
      [left, right, low, high] = [-reach, reach, -reach, reach];
    }
    const { frame } = this, across = width - frame.left - frame.right, down = height - frame.top - frame.bottom;
    this.whole = 0.92 * Math.min(across / (right - left || 1), down / (high - low || 1)); // pixels of a unit before the zoom
    this.between = [(left + right) / 2, (low + high) / 2];
    this.centre = [frame.left + across / 2, frame.top + down / 2];
  }

  /** Zoom about the origin, from which the votes point: it stays where it is, and they keep their directions. */
  aim() {
    const closer = CLOSER ** this.zoom, origin = this.turned(this.run.origin);
    this.unit = this.whole * closer;
    this.middle = this.between.map((middle, axis) => origin[axis] + (middle - origin[axis]) / closer);
  }

  turned([x, y, z]) {
    if (!this.solid) return [x, y, z];
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const [across, deep] = [cy * x + sy * z, cy * z - sy * x];
    return [across, cp * y - sp * deep, cp * deep + sp * y];
  }

  screen(point) {
    const [x, y] = this.turned(point);
    return [this.centre[0] + (x - this.middle[0]) * this.unit, this.centre[1] - (y - this.middle[1]) * this.unit];
  }

  draw(view, selection, look) {
    const { run } = this, pen = surface(this.canvas, this.width, this.height);
    Object.assign(this, { view, selection, look });
    this.aim();
    const left = this.frame.left + INSET, right = this.width - this.frame.right - INSET;
    const top = this.frame.top + INSET, bottom = this.height - this.frame.bottom - INSET;
    const origin = this.screen(run.origin);
    this.outside = new Set();
    this.spots = Array.from({ length: run.lower }, (_, i) => {
      // A far vote is shortened, not turned: it ends where its ray from the origin leaves the picture.
      const [end, cut] = within(origin, this.screen(run.places.subarray(3 * i, 3 * i + 3)), left, top, right, bottom);
      if (cut) this.outside.add(i);
      return end;
    });
    this.axes(pen);
    pen.save();
    pen.beginPath();
    pen.rect(left - WHOLE, top - WHOLE, right - left + 2 * WHOLE, bottom - top + 2 * WHOLE);
    pen.clip();
    this.points(pen, view);
    if (view.covariance) this.ellipses(pen, view);
    this.marks(pen, selection);
    if (this.loop) this.outline(pen);
    pen.restore();
    if (view.head) this.arrow(pen, view);
    if (!this.solid) this.upright(pen);
    this.title(pen);
    if (this.outside.size) this.far(pen);
    if (this.hovered >= 0) this.tell(pen, this.hovered);
  }

  axes(pen) {
    const { look, run } = this;
    pen.font = `${look.px(13)} ${look.font}`;
    pen.strokeStyle = look.grid;
    pen.fillStyle = look.muted;
    pen.lineWidth = 1;
    if (this.solid) return this.triad(pen);
    const step = niceStep(90 / this.unit), bottom = this.height - this.frame.bottom;
    pen.textAlign = "center";
    for (let k = Math.ceil(this.world(this.frame.left, 0)[0] / step); k * step <= this.world(this.width - this.frame.right, 0)[0]; k++) {
      const [x] = this.screen([k * step, 0, 0]);
      line(pen, x, this.frame.top, x, bottom);
      pen.fillText(shown(k * step, decimals(step)), x, bottom + 0.375 * this.frame.bottom);
    }
    pen.textAlign = "right";
    for (let k = Math.ceil(this.world(0, bottom)[1] / step); k * step <= this.world(0, this.frame.top)[1]; k++) {
      const [, y] = this.screen([0, k * step, 0]);
      line(pen, this.frame.left, y, this.width - this.frame.right, y);
      pen.fillText(shown(k * step, decimals(step)), this.frame.left - 5, y + 4);
    }
    pen.textAlign = "left";
    const along = `PC 1 → (${Math.round(100 * run.explained[0])} %`, whole = `${along} of variance)`;
    const narrow = this.frame.left + pen.measureText(`${whole} −0.00  ≥ 0.00`).width + 90 > this.width; // the colours' scale stands beside it
    pen.fillText(narrow ? `${along})` : whole, this.frame.left, this.height - 6);
  }

  /** The name of the second axis, inside: it is read from afar, and larger type finds room. */
  upright(pen) {
    const { look, frame } = this, text = `↑ PC 2 (${Math.round(100 * this.run.explained[1])} %)`;
    pen.font = `${look.px(13)} ${look.font}`;
    haloed(pen, text, frame.left + 8 + pen.measureText(text).width / 2, frame.top + 8 + look.heading, { ...look, text: look.muted });
  }

  /** The three axes at the origin, for a space that is being turned. */
  triad(pen) {
    const reach = 0.45 * Math.min(this.width, this.height) / this.unit, from = this.screen([0, 0, 0]);
    for (let k = 0; k < 3; k++) {
      const end = [0, 0, 0];
      end[k] = reach;
      const [x, y] = this.screen(end);
      line(pen, ...from, x, y);
      pen.fillText(`PC ${k + 1} (${Math.round(100 * this.run.explained[k])} %)`, x + 4, y - 4);
    }
    pen.fillText("drag to turn", this.frame.left, this.height - 8);
  }

  world(x, y) {
    return [this.middle[0] + (x - this.centre[0]) / this.unit, this.middle[1] - (y - this.centre[1]) / this.unit];
  }

  points(pen, view) {
    const { run, look } = this, J = run.upperCount;
    const order = [...Array(run.lower).keys()], origin = this.screen(run.origin);
    if (this.solid) {
      const depth = order.map((i) => this.turned(run.places.subarray(3 * i, 3 * i + 3))[2]);
      order.sort((a, b) => depth[b] - depth[a]);
    }
    pen.strokeStyle = look.muted;
    for (const i of order) {
      const [x, y] = this.spots[i], share = view.shares[i * J + run.upper];
      const radius = Math.max(1.1, POINT[run.routing] * Math.sqrt(share));
      pen.beginPath();
      if (this.outside.has(i)) arrowhead(pen, x, y, radius, Math.atan2(y - origin[1], x - origin[0]));
      else pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.lineWidth = 0.7;
      if (run.gains[i] !== 0) {
        pen.globalAlpha = 0.88;
        pen.fillStyle = run.routing === "dr"
          ? look.diverging.css[look.diverging.at(view.agreement ? view.agreement[i * J + run.upper] : 0, -run.agreement_reach, run.agreement_reach)]
          : look.sequential.css[look.sequential.at(share * run.presence[i], 0, 1)];
        pen.fill();
        pen.globalAlpha = 1;
      }
      pen.stroke();
    }
  }

  marks(pen, { capsule, picked }) {
    pen.strokeStyle = this.look.text;
    pen.lineWidth = 1.6;
    for (const i of picked) ring(pen, this.spots[i], 7);
    const [x, y] = this.spots[capsule];
    pen.strokeStyle = this.look.accent;
    pen.lineWidth = 2;
    pen.setLineDash([5, 4]);
    line(pen, ...this.screen(this.run.origin), x, y);
    pen.setLineDash([]);
    pen.lineWidth = 3;
    ring(pen, [x, y], 9);
  }

  /** One and two σ of the class's Gaussian, seen from here: a linear image of a Gaussian is a Gaussian. */
  ellipses(pen, view) {
    const rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis) => this.turned(axis));
    const across = rows.map((row) => row[0]), up = rows.map((row) => row[1]), c = view.covariance;
    const form = (a, b) => {
      let sum = 0;
      for (let m = 0; m < 3; m++) for (let n = 0; n < 3; n++) sum += a[m] * c[3 * m + n] * b[n];
      return sum;
    };
    const [xx, xy, yy] = [form(across, across), form(across, up), form(up, up)];
    const mean = (xx + yy) / 2, spread = Math.hypot((xx - yy) / 2, xy), angle = Math.atan2(2 * xy, xx - yy) / 2;
    const [x, y] = this.screen(view.head), colour = this.look.classes[this.run.upper];
    for (const sigmas of [2, 1]) {
      pen.beginPath();
      pen.ellipse(x, y, sigmas * this.unit * Math.sqrt(mean + spread), sigmas * this.unit * Math.sqrt(Math.max(0, mean - spread)), -angle, 0, 2 * Math.PI);
      pen.globalAlpha = 0.08;
      pen.fillStyle = colour;
      pen.fill();
      pen.globalAlpha = 1;
      for (const [line, wider] of [[this.look.ground, 3], [colour, 0]]) {
        pen.lineWidth = (sigmas === 1 ? 4 : 2) + wider;
        pen.strokeStyle = line;
        pen.stroke();
      }
    }
  }

  /** From the origin to s, v or μ; one that leaves the picture ends at its border, and says so. */
  arrow(pen, view) {
    const from = this.screen(this.run.origin), tip = this.screen(view.head), colour = this.look.classes[this.run.upper];
    const [to, cut] = within(from, tip, this.frame.left, this.frame.top, this.width - this.frame.right, this.height - this.frame.bottom);
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]), far = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const head = Math.min(18, far);
    for (const [colours, wide] of [[this.look.ground, 8], [colour, 5]]) {
      pen.strokeStyle = pen.fillStyle = colours;
      pen.lineWidth = wide;
      line(pen, ...from, to[0] - 0.7 * head * Math.cos(angle), to[1] - 0.7 * head * Math.sin(angle));
      pen.beginPath();
      for (const turn of [0, 2.6, -2.6]) {
        const reach = turn ? head + (wide - 5) / 2 : (wide - 5) / 2;
        pen.lineTo(to[0] + (turn ? reach * Math.cos(angle + turn) : 0), to[1] + (turn ? reach * Math.sin(angle + turn) : 0));
      }
      pen.closePath();
      pen.fill();
      if (wide === 8) pen.stroke();
    }
    pen.font = `bold ${this.look.px(20)} ${this.look.font}`;
    const label = cut ? `${view.headName} →` : view.headName;
    const x = Math.min(this.width - 30, Math.max(this.frame.left + 14, to[0] + (cut ? -24 : 17) * Math.cos(angle)));
    const y = Math.min(this.height - this.frame.bottom - 6, Math.max(this.frame.top + 18, to[1] + 7 + (cut ? -24 : 17) * Math.sin(angle)));
    haloed(pen, label, x, y, this.look);
  }

  title(pen) {
    const { run, look } = this;
    pen.textAlign = "left";
    pen.font = `600 ${look.px(16)} ${look.font}`;
    pen.fillStyle = look.text;
    pen.fillText(`Votes û for ${run.classes[run.upper]}`, this.frame.left, 2 + 1.1 * look.heading);
    const wide = pen.measureText(`Votes û for ${run.classes[run.upper]}`).width;
    pen.font = `${look.px(14)} ${look.font}`;
    pen.fillStyle = look.muted;
    pen.fillText(run.routing === "dr" ? "area = c, colour = û·v" : "area = R, colour = R a", this.frame.left + wide + 12, 2 + 1.1 * look.heading);
    const reach = run.agreement_reach, digits = Math.max(2, decimals(niceStep(reach ?? 1)) + 1);
    const [table, low, high] = run.routing === "dr"
      ? [look.diverging, shown(-reach, digits), `≥ ${shown(reach, digits)}`] : [look.sequential, "0", "1"];
    scaleBar(pen, this.width - this.frame.right, this.height - 17, table.css, low, high, look, 64);
  }

  /** What the arrowheads at the border are. */
  far(pen) {
    const { look } = this, x = this.frame.left + 8, y = this.height - this.frame.bottom - 9, size = parseFloat(look.px(5));
    const count = `${this.outside.size} ${this.outside.size === 1 ? "vote" : "votes"} farther out`;
    pen.font = `${look.px(13)} ${look.font}`;
    const room = this.width - this.frame.right - x - 3 * size - 8;
    const whole = [`${count}, shortened along the ray from the origin`, `${count}, shortened along the ray`, count]
      .find((text) => pen.measureText(text).width <= room) ?? count;
    haloed(pen, whole, x + 3 * size + pen.measureText(whole).width / 2, y, { ...look, text: look.muted });
    pen.beginPath();
    arrowhead(pen, x + size, y - 0.8 * size, size, 0);
    pen.strokeStyle = look.muted;
    pen.lineWidth = 1.5;
    pen.stroke();
  }

  tell(pen, i) {
    const { run, view } = this, share = view.shares[i * run.upperCount + run.upper];
    const agreement = view.agreement ? `   û·v = ${shown(view.agreement[i * run.upperCount + run.upper])}` : "";
    const lines = [run.label(i), `${run.symbol} = ${shown(share)}${agreement}`];
    if (this.outside.has(i)) lines.push(`its vote lies ${shown(this.beyond(i), 1)} times as far out, in this direction`);
    bubble(pen, lines, this.spots[i], this.width, this.look);
  }

  /** How many times as far from the origin a shortened vote lies as it is drawn. */
  beyond(i) {
    const [x, y] = this.screen(this.run.origin), [farX, farY] = this.screen(this.run.places.subarray(3 * i, 3 * i + 3));
    return Math.hypot(farX - x, farY - y) / Math.hypot(this.spots[i][0] - x, this.spots[i][1] - y);
  }

  // ---------------------------------------------------------------------------------------------------- the pointer

  nearest(event) {
    const { x, y } = pointed(this.canvas, event);
    let best = -1, least = 14 ** 2;
    this.spots?.forEach(([px, py], i) => {
      const far = (px - x) ** 2 + (py - y) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    return { best, x, y };
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const { x, y } = this.nearest(event);
    this.start = { x, y, yaw: this.yaw, pitch: this.pitch, turning: this.solid && !event.shiftKey };
    this.path = [[x, y]];
  }

  drag(event) {
    const { best, x, y } = this.nearest(event);
    if (!this.start) return this.point(best);
    if (Math.hypot(x - this.start.x, y - this.start.y) < 5 && !this.loop && !this.start.moved) return;
    this.start.moved = true;
    if (this.start.turning) {
      const yaw = this.start.yaw + (x - this.start.x) / 120;
      this.yaw = Math.atan2(Math.sin(yaw), Math.cos(yaw)); // once around is where it began
      this.pitch = Math.max(-1.5, Math.min(1.5, this.start.pitch + (y - this.start.y) / 120));
    } else {
      this.path.push([x, y]);
      this.loop = this.path;
    }
    this.redraw();
  }

  release(event) {
    if (!this.start) return;
    const { moved, turning } = this.start;
    this.start = null;
    if (moved && !turning) {
      const inside = this.spots.map((spot, i) => (contains(this.path, spot) ? i : -1)).filter((i) => i >= 0);
      this.loop = null;
      this.onPick(inside, event.shiftKey);
    } else if (moved) {
      this.onTurned();
    } else {
      const { best } = this.nearest(event);
      if (best >= 0) this.onSelect(best, event.shiftKey);
    }
  }

  point(i) {
    if (this.hovered === i) return;
    this.hovered = i;
    this.canvas.style.cursor = i >= 0 ? "pointer" : "crosshair";
    this.redraw();
  }

  outline(pen) {
    pen.beginPath();
    for (const [x, y] of this.loop) pen.lineTo(x, y);
    pen.closePath();
    pen.fillStyle = this.look.accent;
    pen.globalAlpha = 0.14;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = this.look.accent;
    pen.lineWidth = 2;
    pen.stroke();
  }

  redraw() {
    if (this.view) this.draw(this.view, this.selection, this.look);
  }
}
