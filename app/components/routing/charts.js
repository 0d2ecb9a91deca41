// Length of every class, and how the selected capsule turns from class to class.

/** ‖v‖ (EM: a) of every class as bars; the untouched run as an outline. */
class Bars {
  constructor(onClass) {
    this.canvas = element("canvas", { role: "img", className: "pointable" });
    this.canvas.addEventListener("click", (event) => {
      const j = Math.floor((pointed(this.canvas, event).y - this.under) / this.row);
      if (j >= 0 && j < this.run.upperCount) onClass(j);
    });
  }

  load(run) {
    this.run = run;
    // A length is seen against 1; the activations of EM may all be small.
    this.top = run.routing === "dr" ? 1 : Math.max(0.05, ...run.lengths);
  }

  layout(width, height, under) {
    Object.assign(this, { width, height, under, row: (height - under - 2) / this.run.upperCount });
  }

  draw(view, look) {
    const { run, row } = this, pen = surface(this.canvas, this.width, this.height), right = 46;
    const left = Math.max(44, 10 + roomFor(pen, run.classes, 14, look, 0.4 * this.width));
    const across = this.width - left - right;
    pen.font = `600 ${look.px(15)} ${look.font}`;
    pen.fillStyle = look.text;
    pen.fillText(run.routing === "dr" ? "Length ‖v‖ of each class" : `Activation a of each ${run.kind}`, 0, look.heading);
    for (let j = 0; j < run.upperCount; j++) {
      const y = this.under + j * row, value = view.lengths ? view.lengths[j] : null;
      pen.font = `${j === run.upper ? "bold " : ""}${look.px(14)} ${look.font}`;
      pen.textAlign = "right";
      pen.fillStyle = j === run.upper ? look.accent : look.text;
      pen.fillText(fitted(pen, run.classes[j], left - 6), left - 6, y + row / 2 + 5);
      pen.textAlign = "left";
      if (value === null) continue;
      pen.fillStyle = look.classes[j];
      pen.fillRect(left, y + 2, (across * value) / this.top, row - 4);
      if (view.baseLengths) {
        pen.strokeStyle = look.text;
        pen.lineWidth = 1.6;
        pen.setLineDash([3, 2]);
        pen.strokeRect(left, y + 2, (across * view.baseLengths[j]) / this.top, row - 4);
        pen.setLineDash([]);
      }
      const moved = view.baseLengths ? value - view.baseLengths[j] : 0;
      pen.fillStyle = look.text;
      const text = shown(value, 2) + (Math.abs(moved) >= 0.005 ? ` (${moved > 0 ? "+" : ""}${shown(moved, 2)})` : "");
      const end = left + (across * Math.max(value, view.baseLengths?.[j] ?? 0)) / this.top + 5;
      pen.fillText(text, Math.min(end, this.width - pen.measureText(text).width), y + row / 2 + 5);
    }
  }
}

/** What the selected capsule gives to every class, iteration by iteration. */
class ShareLines {
  constructor() {
    this.canvas = element("canvas", { role: "img" });
  }

  load(run) {
    this.run = run;
  }

  layout(width, height) {
    Object.assign(this, { width, height });
  }

  draw(view, { capsule }, look) {
    const { run } = this, times = run.iterations, J = run.upperCount, pen = surface(this.canvas, this.width, this.height);
    const named = roomFor(pen, run.classes, 14, look, 0.3 * this.width);
    const frame = { left: 46, right: Math.max(34, named + 9), top: 12 + 1.2 * look.heading, bottom: 24 };
    const rows = [...Array(J).keys()].map((j) => [...Array(times).keys()].map((t) => run.share(t, capsule, j)));
    const all = rows.flat(), even = 1 / J;
    let low = Math.min(even, ...all), high = Math.max(even, ...all);
    const margin = Math.max(0.004, 0.08 * (high - low));
    [low, high] = [Math.max(0, low - margin), Math.min(1, high + margin)];
    const x = (t) => frame.left + (times === 1 ? 0.5 : t / (times - 1)) * (this.width - frame.left - frame.right);
    const y = (value) => this.height - frame.bottom - ((value - low) / (high - low)) * (this.height - frame.top - frame.bottom);
    pen.font = `600 ${look.px(15)} ${look.font}`;
    pen.fillStyle = look.text;
    pen.fillText(fitted(pen, `${run.symbol} of capsule ${capsule} to each ${run.kind}`, this.width), 0, look.heading);
    pen.font = `${look.px(13)} ${look.font}`;
    pen.strokeStyle = look.grid;
    pen.lineWidth = 1;
    pen.fillStyle = look.muted;
    pen.textAlign = "right";
    const step = niceStep((high - low) / 3);
    for (let k = Math.ceil(low / step); k * step <= high; k++) {
      line(pen, frame.left, y(k * step), this.width - frame.right, y(k * step));
      pen.fillText(shown(k * step, decimals(step)), frame.left - 6, y(k * step) + 4);
    }
    pen.textAlign = "center";
    for (let t = 0; t < times; t++) pen.fillText(t + 1, x(t), this.height - 6);
    const now = run.shareStep(view.t, view.line);
    pen.strokeStyle = look.muted;
    line(pen, x(now), frame.top, x(now), this.height - frame.bottom);
    const order = [...Array(J).keys()].sort((a, b) => rows[a][times - 1] - rows[b][times - 1]);
    for (const j of order) {
      pen.strokeStyle = pen.fillStyle = look.classes[j];
      pen.lineWidth = j === run.upper ? 4.5 : 2;
      pen.beginPath();
      rows[j].forEach((value, t) => pen.lineTo(x(t), y(value)));
      pen.stroke();
      for (const [t, value] of rows[j].entries()) {
        pen.beginPath();
        pen.arc(x(t), y(value), t === now ? 5 : 2.5, 0, 2 * Math.PI);
        pen.fill();
      }
    }
    this.names(pen, order, rows, y, named, look);
  }

  /** The classes that end at the top and the chosen one are named, where they do not overlap. */
  names(pen, order, rows, y, named, look) {
    const taken = [];
    pen.textAlign = "left";
    for (const j of [this.run.upper, ...order.toReversed()]) {
      const at = y(rows[j].at(-1)) + 5;
      if (taken.some((other) => Math.abs(other - at) < 14)) continue;
      taken.push(at);
      pen.font = `${j === this.run.upper ? "bold " : ""}${look.px(14)} ${look.font}`;
      pen.fillStyle = look.text;
      pen.fillText(fitted(pen, this.run.classes[j], named + 1), this.width - named - 1, at);
    }
  }
}

/** The selected capsule's vote, number by number, beside what its class has become: v, or μ with one σ to either side. */
class VoteBars {
  constructor() {
    this.canvas = element("canvas", { role: "img" });
  }

  load(run) {
    this.run = run;
    this.dim = run.poses.length / run.iterations;
  }

  layout(width, height) {
    Object.assign(this, { width, height });
  }

  draw(view, { capsule }, look) {
    const { run, dim } = this, pen = surface(this.canvas, this.width, this.height), head = run.routing === "dr" ? "v" : "μ";
    const vote = run.part(run.votes, capsule, dim), answered = run.routing === "dr" && view.line < 2 ? view.t - 1 : view.t;
    const pose = answered < 0 ? null : run.part(run.poses, answered, dim);
    const deviation = run.variances && run.part(run.variances, view.t, dim).map(Math.sqrt);
    const reach = 1.08 * Math.max(1e-6, ...vote.map(Math.abs), ...run.poses.map(Math.abs));
    const step = niceStep(reach / 2);
    pen.font = `${look.px(13)} ${look.font}`;
    const left = Math.max(40, 10 + pen.measureText(shown(-2 * step, decimals(step))).width);
    const frame = { left, top: 46, bottom: 22 }, wide = (this.width - frame.left) / dim;
    const y = (value) => frame.top + (0.5 - value / (2 * reach)) * (this.height - frame.top - frame.bottom);
    pen.font = `600 ${look.px(15)} ${look.font}`;
    pen.fillStyle = look.text;
    pen.fillText(fitted(pen, `Vote û of capsule ${capsule} for ${run.classes[run.upper]}, and ${head}`, this.width), 0, look.heading);
    pen.font = `${look.px(13)} ${look.font}`;
    this.key(pen, 0, look.accent, "û", look);
    this.key(pen, 46, look.classes[run.upper], head + (deviation ? " ± σ" : ""), look);
    pen.strokeStyle = look.grid;
    pen.fillStyle = look.muted;
    pen.textAlign = "right";
    for (let k = -2; k <= 2; k++) {
      if (Math.abs(k * step) > reach) continue;
      line(pen, frame.left, y(k * step), this.width, y(k * step));
      pen.fillText(shown(k * step, decimals(step)), frame.left - 5, y(k * step) + 4);
    }
    pen.textAlign = "center";
    for (let h = 0; h < dim; h++) {
      const x = frame.left + h * wide;
      pen.fillStyle = look.accent;
      pen.fillRect(x + 0.12 * wide, Math.min(y(0), y(vote[h])), 0.36 * wide, Math.abs(y(vote[h]) - y(0)));
      if (pose) {
        pen.fillStyle = pen.strokeStyle = look.classes[run.upper];
        pen.fillRect(x + 0.52 * wide, Math.min(y(0), y(pose[h])), 0.36 * wide, Math.abs(y(pose[h]) - y(0)));
        pen.strokeStyle = look.text;
        if (deviation) {
          const [low, high] = [-1, 1].map((side) => y(Math.max(-reach, Math.min(reach, pose[h] + side * deviation[h]))));
          line(pen, x + 0.7 * wide, low, x + 0.7 * wide, high); // one that is wider than the frame ends at it
        }
      }
      pen.fillStyle = look.muted;
      pen.fillText(h, x + wide / 2, this.height - 5);
    }
    pen.textAlign = "left";
  }

  key(pen, x, colour, text, look) {
    pen.fillStyle = colour;
    pen.fillRect(x, 26, 12, 12);
    pen.fillStyle = look.text;
    pen.fillText(text, x + 17, 37);
  }
}
