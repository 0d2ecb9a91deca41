// The algorithm of which every frame is one round: its lines side by side, the current one lit, and in them the numbers
// of the capsule that is looked at.

class Lines extends AlgorithmLines {
  update(data) {
    this.data = data;
    this.looped = data.lines.flatMap(({ looped }, k) => (looped ? [k] : []));
    this.root.style.setProperty("--lines", data.lines.length);
    this.setLines(data.lines.map(({ math }) => math));
  }

  /** Between two frames the lines of the later one's round are run; on a frame its last line has been. */
  draw(position, capsule) {
    const { data } = this, round = Math.ceil(position - 1e-6), way = position - (round - 1);
    const lit = this.looped[Math.min(this.looped.length - 1, Math.floor(way * this.looped.length + 1e-6))];
    this.pair.replaceChildren(`i = capsule ${capsule}`, element("br"), `j = ${data.classes[data.upper]}`);
    this.light(lit, data.lines.map(({ numbers, looped }, k) => {
      if (k > lit && looped) return "…";
      return numbers.map(({ text, ago }, n) => text + this.number(`line${k}.${n}`, ago, round, capsule)).join("");
    }));
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
