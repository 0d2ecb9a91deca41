// All class capsules at once, one row each: how many standard deviations every number is from the mean of its class,
// dragged up and down. Where nobody has measured the means, the numbers themselves.

const DEVIATIONS = 6; // where the colours end
const PIXELS = 16; // of dragging for one standard deviation

class Cells {
  constructor(board) {
    this.board = board;
    const { classes, decoders } = board.data;
    this.rows = classes.map((name, label) => this.row(name, label, decoders[0].poses[0].length));
    const numbers = this.rows[0].cells.map((_, d) => element("span", { textContent: d }));
    this.reading = element("output", { className: "reading" });
    this.zero = element("button", { type: "button", className: "zero", textContent: "All to zero" });
    this.zero.onclick = (event) => board.reset(event);
    this.scale = element("span", { className: "key cells-key" });
    this.grid = element(
      "div",
      { className: "cells", role: "group", "aria-label": "All class capsules, one row each" },
      element("div", { className: "row head" }, element("span", { textContent: "class" }), ...numbers),
      ...this.rows.map(({ root }) => root),
    );
    this.grid.onpointerleave = () => this.read(this.held);
    this.root = element(
      "div",
      { className: "controls" },
      this.grid,
      element("div", { className: "below cells-below" }, this.zero, this.reading, this.scale),
    );
  }

  row(name, label, dimensions) {
    const pick = element("button", { type: "button", textContent: name, "aria-label": `class capsule ${name}` });
    pick.onclick = () => this.board.select(label);
    const cells = Array.from({ length: dimensions }, (_, d) => this.cell(label, d));
    return { root: element("div", { className: "row" }, pick, ...cells), pick, cells };
  }

  cell(label, d) {
    const cell = element("div", { className: "cell", role: "slider", tabIndex: -1 });
    const { board } = this;
    cell.onpointerdown = (event) => {
      if (event.button) return;
      cell.setPointerCapture(event.pointerId);
      cell.focus({ preventScroll: true });
      event.preventDefault();
      board.select(label, false);
      board.dragging = true;
      this.held = { label, d, from: board.state.offsets[d], y: event.clientY };
      this.read(this.held);
    };
    cell.onpointermove = (event) => {
      if (!this.held || !cell.hasPointerCapture(event.pointerId)) return;
      const moved = ((this.held.y - event.clientY) / PIXELS) * this.deviation(label, d);
      board.offset(d, this.held.from + moved, event.timeStamp);
    };
    cell.onpointerup = cell.onpointercancel = () => {
      if (!this.held) return;
      this.held = undefined;
      board.dragging = false;
      board.tell();
    };
    cell.ondblclick = (event) => {
      board.offset(d, 0, event.timeStamp);
      board.tell();
    };
    cell.onpointerenter = () => this.held || this.read({ label, d });
    cell.onfocus = () => this.held || this.read({ label, d });
    cell.onkeydown = (event) => this.key(event, label, d);
    return cell;
  }

  /** ↑ ↓ move the number, ← → go to the next one, Page Up and Down to the next class, Delete takes it back. */
  key(event, label, d) {
    const { board } = this, step = Math.max(0.01, 0.25 * this.deviation(label, d));
    const goTo = (row, column) => this.rows[row]?.cells[column]?.focus();
    const by = (offset) => {
      board.select(label, false);
      board.offset(d, offset, event.timeStamp);
      board.tellSoon();
    };
    const acts = {
      ArrowUp: () => by(board.state.offsets[d] + step),
      ArrowDown: () => by(board.state.offsets[d] - step),
      ArrowRight: () => goTo(label, d + 1),
      ArrowLeft: () => goTo(label, d - 1),
      PageUp: () => goTo(label - 1, d),
      PageDown: () => goTo(label + 1, d),
      Home: () => goTo(label, 0),
      End: () => goTo(label, this.rows[label].cells.length - 1),
      Delete: () => by(0),
      Backspace: () => by(0),
      Enter: () => board.select(label),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  get lead() {
    return this.board.data.lead; // the model whose capsules stand here, where several draw
  }

  deviation(label, d) {
    return this.board.decoder(this.lead)?.deviations(label)[d] ?? 1;
  }

  offsetOf(label, d) {
    return label === this.board.state.upper ? this.board.state.offsets[d] : 0;
  }

  value(label, d) {
    return this.board.data.decoders[this.lead].poses[label][d] + this.offsetOf(label, d);
  }

  /** Whether numbers are told in standard deviations from the mean of the class. */
  get scored() {
    return Boolean(this.board.decoder(this.lead)?.means);
  }

  score(label, d, value) {
    return this.scored ? this.board.decoder(this.lead).deviated(label, d, value) : value;
  }

  refresh() {
    const { state } = this.board;
    this.scale.style.setProperty("--low", this.scored ? `"≤ −${DEVIATIONS} σ"` : '"−1"');
    this.scale.style.setProperty("--high", this.scored ? `"≥ ${DEVIATIONS} σ"` : '"+1"');
    this.rows.forEach(({ root, pick, cells }, label) => {
      const chosen = label === state.upper;
      root.classList.toggle("chosen", chosen);
      pick.setAttribute("aria-pressed", chosen);
      cells.forEach((cell, d) => {
        cell.tabIndex = chosen && d === 0 ? 0 : -1;
        cell.shown = undefined;
        if (!chosen) this.dress(label, d);
      });
    });
  }

  words() {
    this.rows[this.board.state.upper].cells.forEach((_, d) => this.dress(this.board.state.upper, d));
    this.zero.disabled = !this.board.state.offsets.some(Boolean);
    this.read(this.held ?? this.pointed);
  }

  dress(label, d) {
    const { board } = this, cell = this.rows[label].cells[d], value = this.value(label, d);
    if (cell.shown === value || !board.colours) return;
    cell.shown = value;
    const score = this.score(label, d, value), chosen = label === board.state.upper;
    const end = this.scored ? DEVIATIONS : 1, at = board.colours.at(score, -end, end);
    cell.style.background = board.colours.css[at];
    cell.style.color = inkOn(board.colours.bytes.subarray(3 * at, 3 * at + 3));
    cell.textContent = chosen ? shown(score, Math.abs(score) < 9.95 ? 1 : 0) : "";
    cell.classList.toggle("moved", this.offsetOf(label, d) !== 0);
    const texts = { "aria-valuenow": score.toFixed(2), "aria-valuetext": this.told(score, value) };
    for (const [name, text] of Object.entries(texts)) cell.setAttribute(name, text);
    if (!cell.hasAttribute("aria-label")) {
      cell.setAttribute("aria-label", `class ${board.data.classes[label]}, dimension ${d}`);
    }
  }

  told(score, value) {
    return this.scored ? `${signed(value)}, ${signed(score, 1)} σ from the mean of the class` : signed(value);
  }

  /** The number at the pointer, in words. */
  read(place) {
    this.pointed = place;
    if (!place) {
      this.reading.textContent = "Drag a cell up or down: the picture follows. A row's name chooses its class.";
      return;
    }
    const { label, d } = place, { data } = this.board, value = this.value(label, d);
    const moved = this.offsetOf(label, d);
    const word = data.labels[label]?.[d], model = data.decoders.length > 1 ? `${data.decoders[this.lead].title}, ` : "";
    this.reading.textContent = `${model}class ${data.classes[label]}, dimension ${d}${word ? ` (${word})` : ""}: `
      + `${this.told(this.score(label, d, value), value)}${moved ? `, moved by ${signed(moved)}` : ""}`;
  }

  destroy() {}
}
