// One recorded routing, read line by line: what is known after each line of each iteration.

const LINES = {
  dr: [
    { math: "c<sub>ij</sub> = softmax<sub>j</sub>(b<sub>ij</sub>)", says: "Every capsule shares itself out over the classes." },
    { math: "s<sub>j</sub> = Σ<sub>i</sub> c<sub>ij</sub> û<sub>ij</sub>", says: "Every class sums up the votes, weighted." },
    { math: "v<sub>j</sub> = squash(s<sub>j</sub>)", says: "The sum is squashed: its length is at most 1." },
    { math: "b<sub>ij</sub> ← b<sub>ij</sub> + û<sub>ij</sub>·v<sub>j</sub>", says: "Votes that agree with v gain." },
  ],
  em: [
    { math: "μ<sub>j</sub>, σ<sub>j</sub> from R<sub>ij</sub> a<sub>i</sub>", says: "M-step: each Gaussian is fitted to the votes that it owns." },
    { math: "a<sub>j</sub> = logistic(λ(β<sub>a</sub> − Σ<sub>h</sub>cost<sub>j</sub><sup>h</sup>))", says: "A narrow Gaussian is cheap, and switches its capsule on." },
    { math: "R<sub>ij</sub> ∝ a<sub>j</sub> N(û<sub>ij</sub>; μ<sub>j</sub>, σ<sub>j</sub>²)", says: "E-step: each vote goes to the Gaussians that explain it." },
  ],
};

class Run {
  constructor(data) {
    Object.assign(this, data);
    this.upperCount = this.classes.length;
    this.lower = this.presence.length;
    this.lines = LINES[this.routing];
    this.count = this.iterations * this.lines.length; // frames
    [this.rows, this.columns, this.types] = this.grid;
    this.symbol = this.routing === "dr" ? "c" : "R";
    this.pairs = this.lower * this.upperCount;
  }

  /** Row, column and type of a capsule. */
  place(capsule) {
    const position = Math.floor(capsule / this.types);
    return [Math.floor(position / this.columns), position % this.columns, capsule % this.types];
  }

  label(capsule) {
    const [row, column, kind] = this.place(capsule);
    return `capsule ${capsule} · row ${row} column ${column} · type ${kind}`;
  }

  /** Top, left, bottom and right, in pixels of the image, of what a capsule sees. */
  fieldOf(capsule) {
    return seen(this.field, this.image_shape, this.place(capsule));
  }

  iteration(frame) {
    return Math.floor(frame / this.lines.length);
  }

  line(frame) {
    return frame % this.lines.length;
  }

  name(frame) {
    return `iteration ${this.iteration(frame) + 1} of ${this.iterations} · line ${this.line(frame) + 1} of ${this.lines.length}`;
  }

  /** Which iteration's shares are on screen after a line: EM's E-step gives those of the next M-step, the last gives none. */
  shareStep(t, line) {
    return this.routing === "em" && line === 2 ? Math.min(t + 1, this.iterations - 1) : t;
  }

  /** What the shares of an iteration are called. */
  sharesName(t) {
    return this.routing === "dr" ? "Couplings c" : `Responsibilities R of M-step ${t + 1}`;
  }

  part(array, at, size) {
    return array.subarray(at * size, (at + 1) * size);
  }

  /** What is on screen after a line: arrays of this run, null where nothing is known yet. */
  state(frame) {
    const t = this.iteration(frame), line = this.line(frame), dr = this.routing === "dr";
    const sharesAt = this.shareStep(t, line);
    const answered = (dr ? line >= 2 : line >= 1) ? t : t - 1; // the latest iteration whose lengths are known
    const state = {
      frame, t, line,
      shares: this.part(this.shares, sharesAt, this.pairs),
      baseShares: this.base_shares && this.part(this.base_shares, sharesAt, this.pairs),
      lengths: answered < 0 ? null : this.part(this.lengths, answered, this.upperCount),
      baseLengths: this.base_lengths && (answered < 0 ? null : this.part(this.base_lengths, answered, this.upperCount)),
    };
    if (dr) {
      const agreed = line < 3 ? t - 1 : t;
      state.agreement = agreed < 0 ? null : this.part(this.agreement, agreed, this.pairs);
      state.head = line === 0 ? (t > 0 ? this.part(this.heads, t - 1, 3) : null)
        : line === 1 ? this.part(this.sum_heads, t, 3) : this.part(this.heads, t, 3);
      state.headName = line === 1 ? "s" : "v";
    } else {
      state.head = this.part(this.heads, t, 3);
      state.headName = "μ";
      state.covariance = this.part(this.covariances, t, 9);
    }
    return state;
  }

  /** The picture at a position between two frames: every number on its straight way from one to the other. */
  view(position) {
    const from = Math.floor(position), share = position - from;
    const a = this.state(from);
    if (share < 1e-6) return a;
    const b = this.state(from + 1), mix = { ...(share < 0.5 ? a : b) };
    for (const name of ["shares", "baseShares", "agreement", "lengths", "baseLengths", "head", "covariance"]) {
      const [x, y] = [a[name] ?? (name === "head" ? this.origin : null), b[name]];
      if (!y || x === y) continue;
      mix[name] = x ? y.map((value, k) => x[k] + share * (value - x[k])) : y.map((value) => share * value);
    }
    return mix;
  }

  /** b_ij before iteration t: the agreement of all iterations before it. */
  logit(t, capsule, upper) {
    let sum = 0;
    for (let k = 0; k < t; k++) sum += this.agreement[k * this.pairs + capsule * this.upperCount + upper];
    return sum;
  }

  share(t, capsule, upper) {
    return this.shares[t * this.pairs + capsule * this.upperCount + upper];
  }

  /** The capsule that gives the chosen class the most when all is done. */
  strongest() {
    const last = this.iterations - 1;
    let best = 0;
    for (let i = 1; i < this.lower; i++) {
      if (this.share(last, i, this.upper) * this.presence[i] > this.share(last, best, this.upper) * this.presence[best]) best = i;
    }
    return best;
  }
}
