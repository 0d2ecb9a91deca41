// The algorithm of which every frame is one round: its lines side by side, the current one lit, and in them the numbers
// of the capsule that is looked at.

class Lines {
  constructor(film) {
    this.film = film;
    this.root = element("div", { className: "algorithm across", role: "group", "aria-label": "The algorithm, line by line" });
  }

  update(data) {
    this.data = data;
    this.looped = data.lines.flatMap(({ looped }, k) => (looped ? [k] : []));
    this.pair = element("div", { className: "pair" });
    this.rows = data.lines.map(({ math }) => {
      const numbers = element("span", { className: "numbers" });
      return { row: element("div", { className: "line" }, element("span", { className: "math", innerHTML: math }), numbers), numbers };
    });
    this.root.style.setProperty("--lines", data.lines.length);
    this.root.replaceChildren(this.pair, ...this.rows.map(({ row }) => row));
  }

  /** Between two frames the lines of the later one's round are run; on a frame its last line has been. */
  draw(position, capsule) {
    const { data } = this, round = Math.ceil(position - 1e-6), way = position - (round - 1);
    const lit = this.looped[Math.min(this.looped.length - 1, Math.floor(way * this.looped.length + 1e-6))];
    this.pair.replaceChildren(`i = capsule ${capsule}`, element("br"), `j = ${data.classes[data.upper]}`);
    this.rows.forEach(({ row, numbers }, k) => {
      row.classList.toggle("lit", k === lit);
      row.setAttribute("aria-current", k === lit ? "step" : "false");
      const given = data.lines[k].numbers.map(({ text, ago }, n) => text + this.number(`line${k}.${n}`, ago, round, capsule));
      numbers.textContent = k <= lit || !data.lines[k].looped ? given.join("") : "…";
    });
  }

  /** A number of a round: the first map's, so many frames ago, or one that was sent for it. */
  number(name, ago, round, capsule) {
    const { data } = this, lower = data.grid[0] * data.grid[1] * data.grid[2];
    const frames = ago === null ? data.frames.length : data.maps[0].frames;
    const values = ago === null ? data[name] : data.map0, frame = Math.min(round, frames - 1) - (ago ?? 0);
    const value = frame < 0 ? NaN : values.length === frames ? values[frame] : values[frame * lower + capsule];
    return Number.isFinite(value) ? shown(value, Math.abs(value) < 0.1 ? 4 : 3) : "…";
  }
}
