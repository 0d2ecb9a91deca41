// A walk from the capsule on stage to another one, straight on and along the sphere, as two strips and as a player.

const SHOTS = 9; // pictures in a strip
const PATHS = { line: "straight", sphere: "on the sphere" };
const OWN = -1; // in place of an exemplar: what this image's own capsule of that class is

class Walk {
  constructor(board) {
    this.board = board;
    const { classes } = board.data;
    this.picks = classes.map((name, label) => {
      const pick = element("button", { type: "button", textContent: name, "aria-label": `walk to class ${name}` });
      pick.onclick = (event) => this.to([label, board.state.to[1]], event);
      return pick;
    });
    this.targets = element("div", { className: "targets", role: "group", "aria-label": "Where the walk ends" });
    this.strips = Object.entries(PATHS).map(([path, words]) => this.strip(path, words));
    this.reading = element("output", { className: "reading" });
    this.player = new Transport({
      count: 11,
      unit: "tenth of the way",
      name: (index) => `${10 * index} %`,
      show: (position) => this.player && this.at(position / 10),
    });
    this.root = element(
      "div",
      { className: "controls walk" },
      element("div", { className: "picks" }, element("span", { textContent: "to class" }), ...this.picks),
      this.targets,
      ...this.strips.map(({ root }) => root),
      this.player.root,
      this.reading,
    );
  }

  strip(path, words) {
    const shots = Array.from({ length: SHOTS }, (_, i) => {
      const canvas = element("canvas", {});
      const share = i / (SHOTS - 1);
      const shot = element("button", { type: "button", "aria-label": `${words}, ${Math.round(100 * share)} %` }, canvas);
      shot.onclick = (event) => {
        this.player.stop();
        this.player.place(10 * share);
        this.along(path, event);
      };
      return { shot, canvas };
    });
    const name = element("button", { type: "button", className: "path", textContent: words });
    name.onclick = (event) => this.along(path, event);
    const root = element("div", { className: "strip" }, name, ...shots.map(({ shot }) => shot));
    return { path, root, name, shots };
  }

  along(path, event) {
    this.board.state.sphere = path === "sphere";
    this.board.moved(event.timeStamp);
    this.board.tell();
  }

  to(target, event) {
    this.board.state.to = target;
    this.refresh();
    this.board.moved(event.timeStamp);
    this.board.tell();
  }

  /** Go to a share of the way; in a player that runs no event of the visitor's is answered. */
  at(share) {
    const { board } = this;
    if (Math.abs(board.state.share - share) < 1e-9) return;
    board.state.share = share;
    board.moved(this.playing ? undefined : board.hand);
    board.hand = undefined;
    board.tellSoon();
  }

  get playing() {
    return Boolean(this.player.timer);
  }

  /** Both ends of the walk of one decoder, as masked capsules. */
  ends(place) {
    const { state, data } = this.board, [label, exemplar] = state.to, { poses } = data.decoders[place];
    const end = exemplar === OWN ? poses[label] : this.board.decoder(place).exemplar(label, exemplar);
    return [[state.upper, this.board.movedPose(place)], [label, end]];
  }

  capsules(place, share = this.board.state.share, sphere = this.board.state.sphere) {
    return onTheWay(...this.ends(place), share, sphere);
  }

  /** The pictures of other ends: what may be walked to, and what lies on the way. */
  refresh() {
    const { board } = this, { state, data } = board, decoder = board.decoder(data.lead);
    this.picks.forEach((pick, label) => pick.setAttribute("aria-pressed", label === state.to[0]));
    if (!decoder) return;
    const numbers = [OWN, ...Array(decoder.kept).keys()];
    if (this.targets.childElementCount !== numbers.length) {
      this.targets.replaceChildren(...numbers.map((number) => this.target(number)));
    }
    [...this.targets.children].forEach((target, i) => {
      const capsule = numbers[i] === OWN ? data.decoders[data.lead].poses[state.to[0]] : decoder.exemplar(state.to[0], numbers[i]);
      paint(target.querySelector("canvas"), decoder.image, decoder.draw([[state.to[0], capsule]]));
      target.setAttribute("aria-pressed", numbers[i] === state.to[1]);
    });
    for (const { path, shots } of this.strips) {
      shots.forEach(({ canvas }, i) => {
        paint(canvas, decoder.image, decoder.draw(this.capsules(data.lead, i / (SHOTS - 1), path === "sphere")));
      });
    }
    if (!this.playing) this.player.place(10 * state.share);
  }

  target(number) {
    const name = number === OWN ? "this image" : `no. ${number + 1}`;
    const target = element("button", { type: "button", title: number === OWN
      ? "What routing made of this image for that class"
      : `The class capsule of a training image, number ${number + 1} of those that the model is surest of` },
    element("canvas", {}), element("span", { textContent: name }));
    target.onclick = (event) => this.to([this.board.state.to[0], number], event);
    return target;
  }

  words() {
    const { board } = this, { state, data } = board;
    const nearest = Math.round(state.share * (SHOTS - 1));
    for (const { path, name, shots } of this.strips) {
      const chosen = (path === "sphere") === state.sphere;
      name.setAttribute("aria-pressed", chosen);
      shots.forEach(({ shot }, i) => shot.classList.toggle("here", chosen && i === nearest));
    }
    if (!board.decoder(data.lead)) return;
    const ends = this.ends(data.lead), here = this.capsules(data.lead);
    const size = Math.hypot(...here.map(([, numbers]) => length(numbers)));
    const angle = (angleBetween(...ends) * 180) / Math.PI;
    this.reading.textContent = `Length here ${size.toFixed(2)}, from ${length(ends[0][1]).toFixed(2)} `
      + `to ${length(ends[1][1]).toFixed(2)}; angle between the two ${angle.toFixed(0)}°`;
  }

  destroy() {
    this.player.destroy();
  }
}
