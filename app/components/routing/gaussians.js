// EM: the Gaussian of the chosen class in each number of its pose, over the votes, and the logistic that switches it on.

const BINS = 36;

/** One small chart per pose component: the votes as the M-step weighs them (R a), all votes behind, and the density. */
class Curves {
  constructor() {
    this.canvas = element("canvas", { role: "img" });
  }

  load(run) {
    this.run = run;
    this.dim = run.poses.length / run.iterations;
    this.ranges = [...Array(this.dim).keys()].map((h) => this.range(h));
  }

  /** From where to where component h is drawn: the votes but the farthest 3 % on either side, and every Gaussian. */
  range(h) {
    const { run, dim } = this;
    const values = Float32Array.from({ length: run.lower }, (_, i) => run.votes[i * dim + h]).sort();
    let low = values[Math.floor(0.03 * (values.length - 1))], high = values[Math.ceil(0.97 * (values.length - 1))];
    for (let t = 0; t < run.iterations; t++) {
      const mean = run.poses[t * dim + h], deviation = Math.sqrt(run.variances[t * dim + h]);
      low = Math.min(low, mean - 3 * deviation);
      high = Math.max(high, mean + 3 * deviation);
    }
    return [low, high];
  }

  layout(width, height) {
    Object.assign(this, { width, height });
  }

  /** Densities of the votes of component h over the bins, weighted or not. */
  histogram(h, shares) {
    const { run, dim } = this, [low, high] = this.ranges[h], bins = new Float32Array(BINS);
    let whole = 0;
    for (let i = 0; i < run.lower; i++) {
      const weight = shares ? shares[i * run.upperCount + run.upper] * run.presence[i] : 1;
      const bin = Math.floor(((run.votes[i * dim + h] - low) / (high - low)) * BINS);
      whole += weight;
      if (bin >= 0 && bin < BINS) bins[bin] += weight;
    }
    // By the whole weight, not by what falls inside: the bars then estimate the density that the line is.
    return bins.map((value) => value / (Math.max(whole, 1e-12) * ((high - low) / BINS)));
  }

  draw(view, look) {
    const { run, dim } = this, pen = surface(this.canvas, this.width, this.height), colour = look.classes[run.upper];
    const across = Math.ceil(Math.sqrt(dim)), down = Math.ceil(dim / across), head = 10 + look.heading;
    const wide = this.width / across, high = (this.height - head) / down;
    pen.font = `600 ${look.px(15)} ${look.font}`;
    pen.fillStyle = look.text;
    pen.fillText(`Gaussian of ${run.classes[run.upper]} in its ${dim} pose numbers, over the votes weighted by R a`, 0, look.heading);
    for (let h = 0; h < dim; h++) {
      const left = (h % across) * wide, top = head + Math.floor(h / across) * high, box = [left, top + 16, wide - 10, high - 24];
      const mean = run.poses[view.t * dim + h], deviation = Math.sqrt(run.variances[view.t * dim + h]);
      const all = this.histogram(h, null), owned = this.histogram(h, view.shares);
      const peak = Math.max(1 / (deviation * Math.sqrt(2 * Math.PI)), ...owned) * 1.05;
      this.bars(pen, all, peak, box, look.grid);
      this.bars(pen, owned, peak, box, colour);
      this.density(pen, h, mean, deviation, peak, box, look.text);
      pen.font = `${look.px(13)} ${look.font}`;
      pen.fillStyle = look.muted;
      pen.fillText(`${h}: σ ${shown(deviation, 2)}`, left, top + 12);
    }
  }

  bars(pen, values, peak, [left, top, wide, high], colour) {
    pen.fillStyle = colour;
    values.forEach((value, k) => {
      const tall = Math.min(1, value / peak) * high;
      pen.fillRect(left + (k * wide) / BINS, top + high - tall, wide / BINS + 0.3, tall);
    });
  }

  density(pen, h, mean, deviation, peak, [left, top, wide, high], colour) {
    const [low, end] = this.ranges[h];
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.beginPath();
    for (let k = 0; k <= 80; k++) {
      const x = low + (k / 80) * (end - low);
      const value = Math.exp(-0.5 * ((x - mean) / deviation) ** 2) / (deviation * Math.sqrt(2 * Math.PI));
      pen.lineTo(left + (k / 80) * wide, top + high - (value / peak) * high);
    }
    pen.stroke();
  }
}

/** Activation against cost: the logistic of this iteration's λ, every class a point on it. */
class Logistic {
  constructor() {
    this.canvas = element("canvas", { role: "img" });
  }

  load(run) {
    this.run = run;
    const over = run.cost.map((cost, k) => cost - run.beta_a[k % run.upperCount]);
    this.reach = Math.max(4, ...over.map(Math.abs)) * 1.08;
  }

  layout(width, height) {
    Object.assign(this, { width, height });
  }

  draw(view, look) {
    const { run } = this, pen = surface(this.canvas, this.width, this.height), answered = view.line >= 1 ? view.t : view.t - 1;
    const t = Math.max(0, answered), strict = run.temperature[t], frame = { left: 36, right: 14, top: 12 + 1.2 * look.heading, bottom: 42 };
    const x = (over) => frame.left + ((over + this.reach) / (2 * this.reach)) * (this.width - frame.left - frame.right);
    const y = (a) => this.height - frame.bottom - a * (this.height - frame.top - frame.bottom);
    pen.font = `600 ${look.px(15)} ${look.font}`;
    pen.fillStyle = look.text;
    pen.fillText(`Cost switches capsules off, λ = ${shown(strict, 2)}`, 0, look.heading);
    pen.font = `${look.px(13)} ${look.font}`;
    pen.strokeStyle = look.grid;
    pen.fillStyle = look.muted;
    pen.lineWidth = 1;
    for (const a of [0, 0.5, 1]) {
      line(pen, frame.left, y(a), this.width - frame.right, y(a));
      pen.fillText(shown(a, 1), 6, y(a) + 4);
    }
    line(pen, x(0), frame.top, x(0), y(0));
    pen.textAlign = "center";
    const step = niceStep(this.reach / 3);
    for (let k = -Math.floor(this.reach / step); k * step <= this.reach; k++) pen.fillText(shown(k * step, decimals(step)), x(k * step), y(0) + 16);
    pen.fillText("Σ cost − βₐ", this.width / 2, this.height - 6);
    pen.textAlign = "left";
    pen.strokeStyle = look.text;
    pen.lineWidth = 2;
    pen.beginPath();
    for (let k = 0; k <= 120; k++) {
      const over = -this.reach + (k / 60) * this.reach;
      pen.lineTo(x(over), y(1 / (1 + Math.exp(strict * over))));
    }
    pen.stroke();
    if (answered < 0) return;
    for (let j = 0; j < run.upperCount; j++) {
      const at = t * run.upperCount + j, here = [x(run.cost[at] - run.beta_a[j]), y(run.lengths[at])];
      pen.beginPath();
      pen.arc(...here, j === run.upper ? 9 : 5.5, 0, 2 * Math.PI);
      pen.fillStyle = look.classes[j];
      pen.fill();
      pen.lineWidth = j === run.upper ? 2.5 : 1;
      pen.strokeStyle = look.text;
      pen.stroke();
      if (j === run.upper) {
        pen.font = `bold ${look.px(15)} ${look.font}`;
        haloed(pen, run.classes[j], here[0], here[1] + (here[1] < 60 ? 26 : -14), look);
      }
    }
  }
}
