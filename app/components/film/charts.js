// Small charts over the frames of a film, each with the place of the frame that is shown, and the histogram of the
// first map at that frame.

const CHART = 78, SPREAD = 96; // heights in CSS pixels
const BINS = 61; // odd: the middle one is zero

class LineChart {
  constructor(number, film) {
    Object.assign(this, { number, film });
    this.words = element("figcaption");
    this.canvas = element("canvas", { role: "img" });
    this.root = element("figure", { className: "chart" }, this.words, this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.scrub(event);
    });
    this.canvas.addEventListener("pointermove", (event) => event.buttons && this.scrub(event));
  }

  update(data) {
    const own = data.curves[this.number];
    Object.assign(this, { data, own });
    this.lines = own.lines.map((_, line) => data[`curve${this.number}.${line}`]);
    const all = this.lines.flatMap((line) => [...line]).filter(Number.isFinite);
    const low = Math.min(...all, own.percent ? 0 : Infinity), high = Math.max(...all);
    const air = (high - low || Math.abs(high) || 1) * 0.06;
    this.low = own.percent ? 0 : low - air;
    this.high = high + air;
    this.canvas.setAttribute("aria-label", `${own.title} over ${data.frames.length} frames, from ${this.number_(low)} to ${this.number_(high)}`);
    this.values = own.lines.map(() => element("b"));
    this.words.replaceChildren(
      element("strong", { textContent: own.title }),
      ...own.lines.map(({ name, colour }, line) =>
        element("span", {}, element("i", { className: "square", style: `background:${colour}` }), ` ${name} `, this.values[line])),
    );
  }

  number_(value) {
    if (this.own.percent) return `${(100 * value).toFixed(value > 0 && value < 0.0995 ? 2 : 1)} %`;
    return shown(value, Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 3);
  }

  /** Where on the canvas a frame lies: frames are as far apart as their steps. */
  x(position, width) {
    const { steps } = this.data, first = Math.floor(position), next = Math.min(first + 1, steps.length - 1);
    const step = steps[first] + (position - first) * (steps[next] - steps[first]);
    return 3 + ((step - steps[0]) / (steps.at(-1) - steps[0] || 1)) * (width - 6);
  }

  draw(position) {
    const { ink } = this.data, width = this.root.clientWidth, pen = surface(this.canvas, width, CHART);
    const y = (value) => CHART - 3 - ((value - this.low) / (this.high - this.low || 1)) * (CHART - 6);
    pen.strokeStyle = ink.grid;
    pen.strokeRect(0.5, 0.5, width - 1, CHART - 1);
    if (this.low < 0 && this.high > 0) this.level(pen, y(0), width, ink.muted);
    this.lines.forEach((values, line) => {
      pen.strokeStyle = this.own.lines[line].colour;
      pen.lineWidth = 2.5;
      pen.beginPath();
      values.forEach((value, frame) => Number.isFinite(value) && pen.lineTo(this.x(frame, width), y(value)));
      pen.stroke();
    });
    const here = this.x(position, width);
    pen.strokeStyle = ink.accent;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(here, 0);
    pen.lineTo(here, CHART);
    pen.stroke();
    this.lines.forEach((values, line) => (this.values[line].textContent = this.number_(values[Math.round(position)])));
  }

  level(pen, y, width, colour) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.setLineDash([4, 4]);
    pen.beginPath();
    pen.moveTo(0, y);
    pen.lineTo(width, y);
    pen.stroke();
    pen.setLineDash([]);
  }

  /** Go to the frame that is nearest to the pointer. */
  scrub(event) {
    const box = this.canvas.getBoundingClientRect(), at = event.clientX - box.left;
    let best = 0;
    for (let frame = 1; frame < this.data.frames.length; frame++) {
      if (Math.abs(this.x(frame, box.width) - at) < Math.abs(this.x(best, box.width) - at)) best = frame;
    }
    this.film.transport.go(best);
  }
}

class Histogram {
  constructor(film) {
    this.film = film;
    this.words = element("figcaption");
    this.canvas = element("canvas", { role: "img" });
    this.root = element("figure", { className: "chart" }, this.words, this.canvas);
  }

  update(data) {
    this.data = data;
    const { symbol, reach, low, high } = data.maps[0];
    this.far = Math.min(1.6 * reach, Math.max(Math.abs(low), Math.abs(high))) || 1;
    this.words.replaceChildren(element("strong", { textContent: `How ${symbol} is spread` }));
    this.canvas.setAttribute("aria-label", `histogram of ${symbol} from ${shown(-this.far)} to ${shown(this.far)}`);
  }

  /** How many numbers fall into each bin; what lies beyond the ends counts there. */
  counts(values) {
    const counts = new Array(BINS).fill(0);
    for (const value of values) {
      const bin = Math.round(((value / this.far + 1) / 2) * (BINS - 1));
      counts[Math.max(0, Math.min(BINS - 1, bin))]++;
    }
    return counts;
  }

  draw(values) {
    const { ink, negative, positive } = this.data, width = this.root.clientWidth, floor = SPREAD - 18 * this.film.scale;
    const pen = surface(this.canvas, width, SPREAD), counts = this.counts(values), most = Math.max(...counts);
    counts.forEach((count, bin) => {
      const middle = (BINS - 1) / 2, high = (count / most) * (floor - 2);
      pen.fillStyle = bin < middle ? negative : bin > middle ? positive : ink.muted;
      pen.fillRect((bin * width) / BINS, floor - high, width / BINS - 1, high);
    });
    pen.fillStyle = ink.muted;
    pen.fillRect(0, floor, width, 1);
    pen.font = this.film.type(14);
    for (const [share, align] of [[0, "left"], [0.5, "center"], [1, "right"]]) {
      pen.textAlign = align;
      pen.fillText(share === 0.5 ? "0" : shown((2 * share - 1) * this.far, 2), share * width, SPREAD - 3);
    }
  }
}
