// The algorithm beside a picture: a line per step, the current one lit, its numbers below the mathematics.

class AlgorithmLines {
  constructor() {
    this.root = element("div", { className: "algorithm", role: "group", "aria-label": "The algorithm, line by line" });
    this.pair = element("div", { className: "pair" }); // of which capsules the numbers are
  }

  /** maths: the lines in HTML; below: what stands under them; go: hears which line is clicked. */
  setLines(maths, { below = [], go = null } = {}) {
    this.rows = maths.map((math, k) => {
      const numbers = element("span", { className: "numbers" });
      const row = element(go ? "button" : "div", { className: "line" }, element("span", { className: "math", innerHTML: math }), numbers);
      if (go) Object.assign(row, { type: "button", onclick: () => go(k) });
      return { row, numbers };
    });
    this.root.replaceChildren(this.pair, ...this.rows.map(({ row }) => row), ...below);
  }

  /** Light a line, and write each line's numbers into it. */
  light(lit, texts) {
    this.rows.forEach(({ row, numbers }, k) => {
      row.classList.toggle("lit", k === lit);
      row.setAttribute("aria-current", k === lit ? "step" : "false");
      numbers.textContent = texts[k];
    });
  }
}
