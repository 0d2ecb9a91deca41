// The algorithm with the numbers of one capsule pair in it, and the capsules as a list.

/** The lines of the algorithm, the current one lit, with the numbers of capsule i and the chosen class j. */
class Algorithm extends AlgorithmLines {
  load(run, go) {
    this.run = run;
    this.says = element("div", { className: "says", "aria-live": "polite" });
    this.setLines(run.lines.map(({ math }) => math), { below: [this.says], go });
  }

  draw(view, { capsule }) {
    const { run } = this, written = run.routing === "dr" ? this.dynamic(view, capsule) : this.em(view, capsule);
    this.pair.textContent = `i = capsule ${capsule}, j = ${run.classes[run.upper]}`;
    this.light(view.line, written.map((text, k) => (k <= view.line ? text : "…")));
    const confused = run.routing === "dr" && view.t === 0 && view.line === 0;
    const over = run.routing === "em" && view.line === 2 && view.t === run.iterations - 1;
    this.says.textContent = confused ? `All b are 0: every coupling is 1/${run.upperCount}, maximum confusion.`
      : over ? "The last M-step has the last word: R stays the one that made μ and a." : run.lines[view.line].says;
  }

  dynamic(view, i) {
    const { run } = this, { t } = view, j = run.upper, at = t * run.upperCount + j;
    const b = run.logit(t, i, j), agreement = run.agreement[t * run.pairs + i * run.upperCount + j];
    return [
      `b = ${shown(b)}  →  c = ${shown(run.share(t, i, j))}`,
      `‖s‖ = ${shown(run.sums[at])},  c‖û‖ = ${shown(run.share(t, i, j) * run.vote_lengths[i], 4)}`,
      `‖v‖ = ${shown(run.lengths[at])}`,
      `û·v = ${shown(agreement)}  →  b = ${shown(b + agreement)}`,
    ];
  }

  em(view, i) {
    const { run } = this, { t } = view, j = run.upper, at = t * run.upperCount + j, dim = run.poses.length / run.iterations;
    const deviation = run.part(run.variances, t, dim).reduce((sum, value) => sum + Math.sqrt(value), 0) / dim;
    return [
      `R = ${shown(run.share(t, i, j))},  aᵢ = ${shown(run.presence[i])},  mean σ = ${shown(deviation)}`,
      `λ = ${shown(run.temperature[t], 2)},  Σcost = ${shown(run.cost[at], 2)}  →  a = ${shown(run.lengths[at])}`,
      `R = ${shown(run.share(t, i, j))}` + (t + 1 < run.iterations ? `  →  ${shown(run.share(t + 1, i, j))}` : ""),
    ];
  }
}

/** The capsules that give the chosen class most, or agree with it most or least. */
class List {
  constructor(onSelect, onSorted) {
    Object.assign(this, { onSelect, onSorted });
    this.order = "share";
    this.root = element("div", { className: "list" });
  }

  load(run) {
    this.run = run;
    this.written = "";
  }

  columns() {
    const { run } = this;
    return [
      ["share", run.symbol, (view, i) => view.shares[i * run.upperCount + run.upper]],
      run.routing === "dr"
        ? ["agreement", "û·v", (view, i) => (view.agreement ? view.agreement[i * run.upperCount + run.upper] : 0)]
        : ["presence", "a", (_, i) => run.presence[i]],
      ["length", "‖û‖", (_, i) => run.vote_lengths[i]],
    ];
  }

  draw(view, { capsule }, count = 9) {
    const stamp = [view.frame, capsule, this.order, count].join();
    if (stamp === this.written) return;
    this.written = stamp;
    const columns = this.columns(), { run } = this;
    const read = (columns.find(([name]) => name === this.order) ?? columns[0])[2];
    const first = [...Array(run.lower).keys()].sort((a, b) => read(view, b) - read(view, a)).slice(0, count);
    const head = element("tr", {}, element("th", { textContent: "capsule", scope: "col" }), ...columns.map(([name, title]) => {
      const button = element("button", { type: "button", textContent: title + (name === this.order ? " ▾" : ""), title: `Sort by ${title}` });
      button.addEventListener("click", () => {
        this.order = name;
        this.draw(view, { capsule }, count);
        this.onSorted();
      });
      return element("th", { scope: "col", "aria-sort": name === this.order ? "descending" : "none" }, button);
    }));
    const rows = first.map((i) => {
      const [r, c, kind] = run.place(i);
      const open = element("button", { type: "button", textContent: `${i}`, title: run.label(i) });
      const row = element("tr", { className: i === capsule ? "chosen" : "" },
        element("td", {}, open, element("span", { textContent: ` ${r},${c} type ${kind}` })),
        ...columns.map(([, , value]) => element("td", { textContent: shown(value(view, i)) })));
      row.addEventListener("click", (event) => this.onSelect(i, event.shiftKey));
      return row;
    });
    this.root.replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }
}
