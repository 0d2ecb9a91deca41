// Sixteen sliders: what is added to each number of the class capsule.

class Sliders {
  constructor(board) {
    this.board = board;
    this.sliders = board.data.decoders[0].poses[0].map((_, dimension) => this.slider(dimension));
    this.zero = element("button", { type: "button", className: "zero", textContent: "All to zero" });
    this.zero.onclick = (event) => board.reset(event);
    const hint = element("span", { className: "hint", textContent: "double-click a slider: back to zero" });
    this.root = element(
      "div",
      { className: "controls" },
      element("div", { className: "sliders" }, ...this.sliders.map(({ row }) => row)),
      element("div", { className: "below" }, this.zero, hint),
    );
  }

  slider(dimension) {
    const { board } = this;
    const input = element("input", { type: "range", id: `dimension-${dimension}` });
    const value = element("span", { className: "value" }), word = element("span", { className: "word" });
    const output = element("output", { htmlFor: input.id });
    const number = element("b", { textContent: dimension });
    const label = element("label", { htmlFor: input.id }, number, value, word);
    const row = element("div", { className: "slider" }, label, input, output);
    input.oninput = (event) => board.offset(dimension, input.valueAsNumber, board.hand ?? event.timeStamp);
    input.onpointerdown = () => (board.dragging = true);
    // `change` comes when the pointer lets go, but at every single key.
    input.onchange = () => (board.dragging ? board.tell() : board.tellSoon());
    input.ondblclick = (event) => {
      board.offset(dimension, 0, event.timeStamp);
      board.tell();
    };
    input.onkeydown = (event) => {
      if (event.key !== "Delete" && event.key !== "Backspace") return;
      event.preventDefault();
      board.offset(dimension, 0, event.timeStamp);
      board.tellSoon();
    };
    return { row, input, value, word, output };
  }

  /** Another capsule, another range, other meanings. */
  refresh() {
    const { data, state } = this.board, several = data.decoders.length > 1;
    const words = several ? [] : data.labels[state.upper] ?? []; // the words of one model say nothing of another's numbers
    this.root.classList.toggle("worded", words.some(Boolean));
    this.sliders.forEach((slider, d) => {
      const { row, input, value, word } = slider;
      Object.assign(input, { min: -data.reach, max: data.reach, step: data.step });
      value.textContent = several ? "" : signed(data.decoders[0].poses[state.upper][d]);
      word.textContent = words[d] ?? "";
      const stands = data.decoders.map(({ title, poses }) => `${title} ${signed(poses[state.upper][d])}`).join(", ");
      row.title = `dimension ${d} of the capsule${words[d] ? `, ${words[d]}` : ""}: ${several ? stands : value.textContent}`;
      input.setAttribute("aria-label", row.title);
      slider.offset = undefined;
    });
  }

  /** The offsets, where they changed: fifteen of sixteen do not, while one moves. */
  words() {
    const { data, state } = this.board;
    this.sliders.forEach((slider, d) => {
      const { row, input, output } = slider, offset = state.offsets[d];
      if (input.valueAsNumber !== offset) input.value = offset;
      if (slider.offset === offset) return;
      slider.offset = offset;
      output.textContent = offset ? signed(offset) : "0";
      input.setAttribute("aria-valuetext", `offset ${signed(offset)}`);
      row.classList.toggle("off-zero", offset !== 0);
      row.style.setProperty("--at", 0.5 + offset / (2 * data.reach)); // where the thumb stands, 0..1
    });
    this.zero.disabled = !state.offsets.some(Boolean);
  }

  destroy() {}
}
