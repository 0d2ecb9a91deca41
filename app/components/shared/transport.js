// Play, slow motion, pause, step, scrub and keys, for whatever is drawn as a function of a position: 0 is the first
// frame, 1 the second, and between them the picture glides. No server is asked.
//
// Keys: space plays and pauses, ← → step, Home and End jump, s is slow motion. They go to the player that was touched
// last, else to the first on the page; a field that takes typing keeps its keys. Players of one group move in step.
// Bundled behind shared/told.js.

const HOLD = 620, GLIDE = 380; // milliseconds that a frame stands, and that the way to the next one takes
const SLOWER = 3;
const REST = 500; // milliseconds without a move after which the place counts as chosen

class Transport {
  /**
   * count: frames; show(position): draws; name(index): what a frame is called; group: moves in step with its like;
   * rest(frame): hears where the visitor left it, null for the end, half a second after the last move; hold, glide:
   * milliseconds that a frame stands, and that the way to the next one takes.
   */
  constructor({ count, show, name, group = "", unit = "step", rest = null, hold = HOLD, glide = GLIDE }) {
    Object.assign(this, { count, show, name, group, unit, rest, hold, glide, position: 0, slow: false, timer: 0 });
    this.listening = new AbortController();
    this.told = new Told();
    const button = (label, title, act) => {
      const made = element("button", { type: "button", textContent: label, title, "aria-label": title });
      made.addEventListener("click", act);
      return made;
    };
    this.playButton = button("▶ Play", "Play or pause (space)", () => this.toggle());
    this.slowButton = button("Slow", "Slow motion (s)", () => this.setSlow(!this.slow));
    this.slider = element("input", { type: "range", min: 0, step: 1, "aria-label": unit });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.label = element("output", { className: "frame" });
    this.root = element(
      "div",
      { className: "transport", role: "group", "aria-label": "Player" },
      this.playButton,
      button("◀", `One ${unit} back (←)`, () => this.step(-1)),
      button("▶", `One ${unit} on (→)`, () => this.step(1)),
      this.slowButton,
      this.slider,
      this.label,
    );
    this.root.addEventListener("pointerdown", () => (players().active = this), { signal: this.listening.signal });
    window.addEventListener("capsviz:position", ({ detail }) => {
      if (this.group && detail.group === this.group && detail.from !== this) this.follow(detail.share);
    }, { signal: this.listening.signal });
    players().all.push(this);
    this.resize(count);
  }

  /** Other frames: another number of them, the same place among them. */
  resize(count) {
    const share = this.count > 1 ? this.position / (this.count - 1) : 0;
    this.count = count;
    this.slider.max = count - 1;
    this.place(Math.min(count - 1, count === 1 ? 0 : share * (count - 1)));
  }

  get index() {
    return Math.round(this.position);
  }

  /** Draw at a position, without telling others. */
  place(position) {
    this.position = Math.max(0, Math.min(this.count - 1, position));
    this.slider.value = this.index;
    const text = this.name(this.index);
    this.label.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    this.show(this.position);
  }

  /** Draw at a position; players of the same group come along. */
  move(position) {
    this.place(position);
    clearTimeout(this.resting);
    if (this.rest) this.resting = setTimeout(() => this.timer || this.leave(), REST);
    if (!this.group) return;
    const share = this.count > 1 ? this.position / (this.count - 1) : 0;
    window.dispatchEvent(new CustomEvent("capsviz:position", { detail: { group: this.group, share, from: this } }));
  }

  leave() {
    if (this.told.worth(this.left)) this.rest(this.left);
  }

  /** Where it stands, as the link has it: null for the end. */
  get left() {
    return this.index === this.count - 1 ? null : this.index;
  }

  /**
   * Stand where the link says, null for the end; not where it only answers, or where the visitor has moved on since.
   * count: how often Python has heard where the visitor left it.
   */
  stand(frame, count) {
    const busy = Boolean(this.timer) || !this.told.last(this.left);
    if (!this.told.news(frame, count, busy)) return;
    this.stop();
    this.place(frame ?? this.count - 1);
  }

  follow(share) {
    this.stop();
    this.place(share * (this.count - 1));
  }

  /** Stand on a frame. */
  go(index) {
    this.stop();
    this.move(index);
  }

  step(by) {
    const here = by > 0 ? Math.floor(this.position + 1e-6) : Math.ceil(this.position - 1e-6);
    this.go(here + by);
  }

  toggle() {
    if (!this.timer) return this.play();
    this.stop();
    this.move(this.position); // here the visitor leaves it
  }

  setSlow(slow) {
    this.slow = slow;
    this.slowButton.setAttribute("aria-pressed", String(slow));
  }

  play() {
    if (this.position >= this.count - 1) this.move(0);
    this.playButton.textContent = "❚❚ Pause";
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    let before = performance.now(), held = 0, from = Math.floor(this.position), way = this.position - from;
    const frame = (now) => {
      const passed = (now - before) / (this.slow ? SLOWER : 1);
      before = now;
      held += passed;
      if (way > 0 || held >= this.hold) {
        way = still ? 1 : Math.min(1, way + passed / this.glide);
        this.move(from + way * way * (3 - 2 * way));
        if (way >= 1) [from, way, held] = [from + 1, 0, 0];
      }
      if (from >= this.count - 1) this.stop();
      else this.timer = requestAnimationFrame(frame);
    };
    this.timer = requestAnimationFrame(frame);
  }

  stop() {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
    this.playButton.textContent = "▶ Play";
  }

  /** Answer a key; whether it was one of ours. */
  key(event) {
    const acts = {
      " ": () => this.toggle(),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.go(0),
      End: () => this.go(this.count - 1),
      s: () => this.setSlow(!this.slow),
    };
    if (!acts[event.key]) return false;
    acts[event.key]();
    return true;
  }

  destroy() {
    this.stop();
    clearTimeout(this.resting);
    this.listening.abort();
    const known = players();
    known.all = known.all.filter((player) => player !== this);
    if (known.active === this) known.active = null;
  }
}

/** All players of the page, whichever component brought them, and the one that listener for keys. */
function players() {
  if (!window.capsvizPlayers) {
    window.capsvizPlayers = { all: [], active: null };
    document.addEventListener("keydown", (event) => {
      const { all, active } = window.capsvizPlayers;
      const player = active ?? all.find((each) => each.root.isConnected);
      if (!player || event.ctrlKey || event.metaKey || event.altKey || takesKeys(event)) return;
      if (player.key(event)) event.preventDefault();
    });
  }
  return window.capsvizPlayers;
}

/** Whether the key is meant for what has the focus: a field, a slider, or a button that space presses. */
function takesKeys(event) {
  const at = event.composedPath()[0];
  if (!(at instanceof Element)) return false;
  if (at.isContentEditable || at.matches("input, textarea, select, [role=slider], [role=textbox], [role=combobox]")) return true;
  return event.key === " " ? at.matches("button, a, summary, [role=button], [role=radio], [role=tab]")
    : at.matches("[role=radio], [role=tab], [role=option], [role=menuitem]");
}
