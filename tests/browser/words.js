// What tests/browser/test_words.py asks a page about the words in its pictures: on canvases, and in Plotly's SVG.
(() => {
  const { prototype } = CanvasRenderingContext2D, written = new WeakMap();
  const forget = (canvas) => written.set(canvas, []);

  /** Every element of the page, those of components too. */
  function* elements(root = document) {
    for (const node of root.querySelectorAll("*")) {
      yield node;
      if (node.shadowRoot) yield* elements(node.shadowRoot);
    }
  }

  return {
    /** Before any script: remember what every canvas shows in words. */
    listen() {
      const { fillText, clearRect } = prototype;
      prototype.fillText = function (text, x, y, ...rest) {
        const size = this.measureText(text), at = this.getTransform();
        const [left, right] = [x - size.actualBoundingBoxLeft, x + size.actualBoundingBoxRight];
        const [top, bottom] = [y - size.actualBoundingBoxAscent, y + size.actualBoundingBoxDescent];
        const corners = [[left, top], [right, top], [left, bottom], [right, bottom]].map(([a, b]) => at.transformPoint({ x: a, y: b }));
        const xs = corners.map((corner) => corner.x), ys = corners.map((corner) => corner.y);
        if (!written.has(this.canvas)) forget(this.canvas);
        written.get(this.canvas).push({
          text: String(text), box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
          height: parseFloat(this.font.match(/([\d.]+)px/)[1]) * Math.hypot(at.a, at.b), // in the canvas's own pixels
        });
        return fillText.call(this, text, x, y, ...rest);
      };
      prototype.clearRect = function (x, y, width, height) {
        const at = this.getTransform(), { canvas } = this;
        if (x <= 0 && y <= 0 && width * at.a >= canvas.width - 2 && height * at.d >= canvas.height - 2) forget(canvas);
        return clearRect.call(this, x, y, width, height);
      };
      for (const side of ["width", "height"]) {
        const own = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, side);
        Object.defineProperty(HTMLCanvasElement.prototype, side, { ...own, set(value) { forget(this); own.set.call(this, value); } });
      }
    },

    /** By picture: its words, each with its box in CSS pixels of the picture and the height of its type. */
    words() {
      const pictures = [];
      for (const node of elements()) {
        if (!node.checkVisibility() || node.closest("[data-testid=stDataFrame]")) continue;
        const frame = node.getBoundingClientRect();
        if (node instanceof HTMLCanvasElement && written.get(node)?.length && frame.width) {
          const scale = frame.width / node.width;
          const words = written.get(node).filter(({ text }) => text.trim());
          pictures.push({
            picture: node.getAttribute("aria-label")?.slice(0, 40) || node.className, size: [frame.width, frame.height],
            words: words.map(({ text, box, height }) => ({ text, box: box.map((edge) => edge * scale), height: height * scale })),
          });
        } else if (node.matches(".js-plotly-plot")) {
          const lines = [...node.querySelectorAll("text")].filter((text) => text.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
            .flatMap((text) => (text.querySelector("tspan.line") ? [...text.querySelectorAll("tspan.line")] : [text]))
            .filter((text) => text.textContent.trim() && !text.closest(".hoverlayer"));
          pictures.push({
            picture: node.closest("[class*=st-key]")?.className.match(/st-key-\S+/)?.[0] ?? "plot",
            words: lines.map((line) => {
              const { left, top, right, bottom } = line.getBoundingClientRect(), height = parseFloat(getComputedStyle(line).fontSize);
              const air = Math.max(0, (bottom - top - 0.74 * height) / 2); // between the letters and the box of their line
              const upright = right - left > bottom - top || line.textContent.trim().length < 3;
              const box = upright ? [left, top + air, right, bottom - air] : [left, top, right, bottom];
              return { text: line.textContent.trim(), box: [box[0] - frame.left, box[1] - frame.top, box[2] - frame.left, box[3] - frame.top], height };
            }),
          });
        }
      }
      return pictures;
    },

    /** Pairs of words in one picture that are written over each other. */
    overprinted() {
      const bad = [];
      for (const { picture, words } of this.words()) {
        words.forEach((one, at) => {
          for (const other of words.slice(at + 1)) {
            const across = Math.min(one.box[2], other.box[2]) - Math.max(one.box[0], other.box[0]);
            const down = Math.min(one.box[3], other.box[3]) - Math.max(one.box[1], other.box[1]);
            const same = one.text === other.text && Math.abs(one.box[0] - other.box[0]) < 1 && Math.abs(one.box[1] - other.box[1]) < 1;
            if (across > 1 && down > 1 && !same) bad.push(`${picture}: “${one.text}” and “${other.text}” by ${across.toFixed(0)} × ${down.toFixed(0)}`);
          }
        });
      }
      return bad;
    },

    /** Words on canvases that end beyond the canvas or in dots. */
    cut() {
      return this.words().filter(({ size }) => size).flatMap(({ picture, words, size: [width, height] }) =>
        words.filter(({ text, box: [left, top, right, bottom] }) =>
          text.endsWith("…") || left < -2 || top < -2 || right > width + 2 || bottom > height + 2)
          .map(({ text, box }) => `${picture}: “${text}” ${box.map(Math.round)} of ${Math.round(width)} × ${Math.round(height)}`));
    },

    /** Words smaller than so many CSS pixels. */
    smaller(least) {
      return this.words().flatMap(({ picture, words }) =>
        words.filter(({ height }) => height < least - 0.01).map(({ text, height }) => `${picture}: “${text}” ${height.toFixed(1)}`));
    },
  };
})()
