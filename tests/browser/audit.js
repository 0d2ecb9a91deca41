// What tests/browser/test_audit.py asks a page: an object of questions.
(() => {
  const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;

  /** Every element of the page, those of components too. */
  function* elements(root = document) {
    for (const node of root.querySelectorAll("*")) {
      yield node;
      if (node.shadowRoot) yield* elements(node.shadowRoot);
    }
  }

  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colourOf = (css) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = css;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };

  /** What of an element is seen: its own box cut by those of all that scroll or cut around it. */
  const windowOf = (node) => {
    let [left, top, right, bottom] = [0, 0, innerWidth, innerHeight];
    for (let at = parentOf(node); at; at = parentOf(at)) {
      const style = getComputedStyle(at);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const box = at.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    return [left, top, right, bottom];
  };

  const visible = { opacityProperty: true, visibilityProperty: true };
  // Symbols are pictures; what is switched off may be pale.
  const noText = "style, script, noscript, title, canvas, option, [disabled], [disabled] *, [aria-disabled=true], .katex-mathml *";
  const isText = (node, own) =>
    own.trim() && !node.matches(noText) && node.checkVisibility(visible)
    && !getComputedStyle(node).fontFamily.includes("Material");

  return {
    /** Every text that is painted: what it says, where, in which colour, how large. */
    texts() {
      const found = [], range = document.createRange();
      for (const node of elements()) {
        const own = [...node.childNodes].filter((child) => child.nodeType === 3 && child.data.trim());
        if (!isText(node, own.map((child) => child.data).join(" "))) continue;
        const style = getComputedStyle(node), svg = node instanceof SVGElement;
        let opacity = svg ? Number(style.fillOpacity) : 1;
        for (let at = node; at; at = parentOf(at)) opacity *= Number(getComputedStyle(at).opacity);
        const [red, green, blue, alpha] = colourOf(svg ? style.fill : style.color);
        const [left, top, right, bottom] = windowOf(node), size = parseFloat(style.fontSize);
        const boxes = svg ? [node.getBoundingClientRect()] : own.flatMap((child) => (range.selectNode(child), [...range.getClientRects()]));
        for (const box of boxes) {
          const seen = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)];
          if (seen[2] - seen[0] < 2 || seen[3] - seen[1] < 2) continue;
          found.push({
            text: node.textContent.trim().slice(0, 40), box: seen, colour: [red, green, blue], alpha: (opacity * alpha) / 255,
            // A square in a legend is a picture, and has to stand out as much as large type does (WCAG 2.2, 1.4.11).
            large: node.textContent.trim() === "■" || size >= 24 || (size >= 18.66 && style.fontWeight >= 700),
          });
        }
      }
      return found;
    },

    /** Take all letters off the page, so that a screenshot shows what stands behind them. */
    hideTexts() {
      const css = "*, *::before, *::after, ::placeholder { -webkit-text-fill-color: transparent !important; }"
        + "svg text, svg tspan { fill: transparent !important; stroke: transparent !important; }";
      for (const root of [document.head, ...[...elements()].map((node) => node.shadowRoot).filter(Boolean)]) {
        root.append(Object.assign(document.createElement("style"), { textContent: css, className: "hiding" }));
      }
    },

    /** Put the letters back. */
    showTexts() {
      for (const root of [document, ...[...elements()].map((node) => node.shadowRoot).filter(Boolean)]) {
        for (const style of root.querySelectorAll("style.hiding")) style.remove();
      }
    },

    /** Pictures without words, and canvases that are not said to be pictures. */
    undescribed() {
      const bad = [];
      const named = (node) => {
        for (let at = node; at; at = parentOf(at)) {
          if (at.getAttribute("aria-label")?.trim() || at.getAttribute("alt")?.trim()) return true;
          if (at.getAttribute("aria-hidden") === "true" || at.getAttribute("role") === "presentation") return true;
          if (at.matches("[data-testid=stElementContainer]")) return false;
        }
        return false;
      };
      for (const node of elements()) {
        if (!node.checkVisibility() || node.closest("[data-testid=stDataFrame]")) continue; // Streamlit's own table speaks for itself
        if (node.matches(".js-plotly-plot, canvas, img") && !named(node)) bad.push(node.outerHTML.slice(0, 160));
        if (node.matches("canvas[aria-label]:not([role])")) bad.push(`no role: ${node.outerHTML.slice(0, 160)}`);
      }
      return bad;
    },

    /** Headings that leave out a level, and headings of tables without words. */
    outline() {
      const bad = [];
      let before = 6;
      for (const node of elements()) {
        if (!node.checkVisibility() || !node.matches("h1, h2, h3, h4, h5, h6, th")) continue;
        const level = Number(node.tagName[1]), said = node.textContent.trim();
        if (level > before + 1) bad.push(`${node.tagName} after H${before}: ${said}`);
        if (level) before = level;
        else if (!said) bad.push(`empty: ${node.closest("table").textContent.trim().slice(0, 60)}`);
      }
      return bad;
    },

    /** What is wider than its place: the page, or words that are cut off. */
    tooWide() {
      const bad = [], main = document.querySelector("[data-testid=stMain]");
      for (const node of [document.documentElement, main]) {
        if (node.scrollWidth > node.clientWidth) bad.push(`${node.tagName} by ${node.scrollWidth - node.clientWidth}`);
      }
      for (const plot of document.querySelectorAll(".js-plotly-plot")) {
        const frame = plot.querySelector(".main-svg").getBoundingClientRect();
        for (const text of plot.querySelectorAll("text")) {
          const box = text.getBoundingClientRect(), said = text.textContent.trim();
          if (said && box.width > 1 && (box.left < frame.left - 1 || box.right > frame.right + 1)) bad.push(`cut: ${said}`);
        }
      }
      return bad;
    },

    /** Words that canvases wrote (see `listen`) on a ground on which they are hard to read. */
    written: () => [...(window.writtenOnCanvas ?? new Map()).values()],

    /** Before any script: look at what stands behind whatever a canvas writes. */
    listen() {
      const looked = new Map(), found = (window.writtenOnCanvas = new Map()), write = CanvasRenderingContext2D.prototype.fillText;
      const light = (colour) => {
        const [red, green, blue] = colour.map((c) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const groundOf = (node) => {
        for (let at = node; at; at = parentOf(at)) {
          const colour = colourOf(getComputedStyle(at).backgroundColor);
          if (colour[3] === 255) return colour;
        }
        return [255, 255, 255];
      };
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
        const kind = `${this.canvas.parentElement?.className} ${String(text).replace(/[\d.−]+/g, "#")}`;
        looked.set(kind, 1 + (looked.get(kind) ?? 0)); // reading pixels back is slow
        const painted = this.canvas.isConnected && !this.canvas.closest("[data-testid=stDataFrame]");
        if (painted && String(text).trim() && looked.get(kind) <= 4) {
          const size = this.measureText(text), at = this.getTransform();
          const corners = [
            [x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent],
            [x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent],
          ].map(([a, b]) => at.transformPoint({ x: a, y: b }));
          const [left, right] = corners.map((corner) => corner.x).sort((a, b) => a - b);
          const [top, bottom] = corners.map((corner) => corner.y).sort((a, b) => a - b);
          const pixels = this.getImageData(left, top, Math.max(1, right - left), Math.max(1, bottom - top)).data;
          const ground = groundOf(this.canvas), ink = colourOf(this.fillStyle);
          const height = (parseFloat(this.font.match(/([\d.]+)px/)[1]) * Math.hypot(at.a, at.b)) / devicePixelRatio;
          const least = height >= 24 || (height >= 18.66 && /bold|[7-9]00/.test(this.font)) ? 3 : 4.5;
          let hard = 0;
          for (let p = 0; p < pixels.length; p += 4) {
            const behind = [0, 1, 2].map((c) => ground[c] + (pixels[p + 3] / 255) * (pixels[p + c] - ground[c]));
            const front = [0, 1, 2].map((c) => behind[c] + (ink[3] / 255) * this.globalAlpha * (ink[c] - behind[c]));
            const [dark, bright] = [light(front), light(behind)].sort((a, b) => a - b);
            hard += (bright + 0.05) / (dark + 0.05) < least;
          }
          const share = (4 * hard) / pixels.length;
          const cut = left < -2 || top < -2 || right > this.canvas.width + 2 || bottom > this.canvas.height + 2;
          if (share > 0.25 || cut) found.set(kind, `${text}: ${cut ? "cut" : share.toFixed(2)}`);
        }
        return write.call(this, text, x, y, ...rest);
      };
    },
  };
})()
