// The decoder of capsviz/network/capsnet.py in the browser: 16 numbers of one class capsule to an image, at every
// move of a slider. tests/browser/test_live_decoder.py holds it to PyTorch's numbers.
//
// The module is mounted twice over. Once for each decoder with its packed weights as bytes (`keep`), which arrive once,
// and once with everything else as JSON (`show`): capsules, offsets, titles, colours.

const KEPT = 16; // decoders; the weights of one take about 6 MB as float32
const RECORDED = 2000; // latencies
const QUIET = 180; // milliseconds without another key before Python hears the value that keys left behind

const decoders = new Map(); // digest -> Decoder, the oldest first
const arrivals = new EventTarget(); // "decoder": another one is in the map
const boards = new WeakMap(); // element of the component -> Board

export default function ({ data, parentElement, setTriggerValue }) {
  return data instanceof Uint8Array ? keep(data) : show(data, parentElement, setTriggerValue);
}

function keep(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const known = decoders.get(header.digest);
  if (known) {
    decoders.delete(header.digest); // and in again, as the youngest
    decoders.set(header.digest, known);
    return;
  }
  const payload = bytes.slice(4 + size).buffer; // a copy of its own starts at a multiple of 4
  const numbers = header.dtype === "float16" ? widen(new Uint16Array(payload)) : new Float32Array(payload);
  decoders.set(header.digest, new Decoder(header, numbers));
  if (decoders.size > KEPT) decoders.delete(decoders.keys().next().value);
  arrivals.dispatchEvent(new Event("decoder"));
}

function show(data, parent, send) {
  let board = boards.get(parent);
  if (!board) boards.set(parent, (board = new Board(parent)));
  const call = board.update(data, send);
  // Streamlit also runs what a call that was overtaken returns: only the latest may take the board down.
  return () => {
    if (board.calls !== call) return;
    board.destroy();
    boards.delete(parent);
  };
}

// ---------------------------------------------------------------------------------------------------- the network

/** float16 to float32, through a table of all 65,536 values. */
function widen(halves) {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const size = exponent === 0 ? fraction * 2 ** -24
      : exponent === 31 ? (fraction ? NaN : Infinity)
      : (1 + fraction / 1024) * 2 ** (exponent - 15);
    table[bits] = bits & 32768 ? -size : size;
  }
  const numbers = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) numbers[i] = table[halves[i]];
  return numbers;
}

class Decoder {
  constructor({ widths, image, dim }, numbers) {
    this.image = image; // channels, height, width
    this.dim = dim;
    this.layers = [];
    let at = 0;
    for (let i = 0; i + 1 < widths.length; i++) {
      const [inputs, outputs] = [widths[i], widths[i + 1]];
      const weight = numbers.subarray(at, (at += inputs * outputs)); // "input output"
      const bias = numbers.subarray(at, (at += outputs));
      this.layers.push({ outputs, weight, bias, sums: new Float64Array(outputs) });
    }
  }

  /** The image that class capsule `upper` draws, all others masked: "channel height width" in 0..1. */
  draw(upper, pose) {
    let values = pose, first = upper * this.dim; // the rows of the other capsules would be multiplied by zero
    for (const layer of this.layers) {
      affine(layer, values, first);
      values = layer.sums;
      first = 0;
      if (layer === this.layers.at(-1)) break;
      for (let i = 0; i < values.length; i++) if (values[i] < 0) values[i] = 0;
    }
    return Float32Array.from(values, (sum) => 1 / (1 + Math.exp(-sum)));
  }
}

/** sums = bias + values · weight[first:], without the rows whose value is zero; four rows at a time, in sequence. */
function affine({ outputs, weight, bias, sums }, values, first) {
  const active = [];
  for (let i = 0; i < values.length; i++) if (values[i] !== 0) active.push(i);
  sums.set(bias);
  let k = 0;
  for (; k + 3 < active.length; k += 4) {
    const a = values[active[k]], b = values[active[k + 1]], c = values[active[k + 2]], d = values[active[k + 3]];
    const p = (first + active[k]) * outputs, q = (first + active[k + 1]) * outputs;
    const r = (first + active[k + 2]) * outputs, s = (first + active[k + 3]) * outputs;
    for (let o = 0; o < outputs; o++) {
      sums[o] += a * weight[p + o] + b * weight[q + o] + c * weight[r + o] + d * weight[s + o];
    }
  }
  for (; k < active.length; k++) {
    const a = values[active[k]], p = (first + active[k]) * outputs;
    for (let o = 0; o < outputs; o++) sums[o] += a * weight[p + o];
  }
}

// ------------------------------------------------------------------------------------------------------ the screen

const ROWS = { before: "as it is", after: "moved", difference: "difference" };

class Board {
  constructor(parent) {
    this.calls = 0;
    this.pending = []; // what was sent to Python and has not come back yet
    this.root = element("section", { className: "live-decoder" });
    // For tests and `capsviz benchmark app`: milliseconds from the visitor's event to the painted canvas.
    this.root.capsvizLatencies = this.latencies = [];
    this.root.capsvizFrames = 0;
    this.root.capsvizDecode = (place, pose) => this.decoder(place).draw(this.data.upper, Float64Array.from(pose));
    this.listening = new AbortController();
    arrivals.addEventListener("decoder", () => this.refresh(), { signal: this.listening.signal });
    // On the window, because a pointer may be let go anywhere; `change` follows in the same breath and asks for it still.
    const release = () => setTimeout(() => (this.dragging = false));
    for (const end of ["pointerup", "pointercancel"]) {
      window.addEventListener(end, release, { signal: this.listening.signal });
    }
    // The clock starts at the visitor's own event: that of `input` is younger.
    const stamp = (event) => (this.hand = event.timeStamp);
    for (const start of ["pointerdown", "pointermove", "keydown"]) {
      window.addEventListener(start, stamp, { signal: this.listening.signal, capture: true, passive: true });
    }
    // Runs after the frame: what was painted in it is then on its way to the screen.
    this.painted = new MessageChannel();
    this.painted.port1.onmessage = ({ data: stamp }) => {
      this.latencies.push(performance.now() - stamp);
      if (this.latencies.length > RECORDED) this.latencies.shift();
    };
    parent.append(this.root);
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.listening.abort();
    this.painted.port1.close();
    this.root.remove();
  }

  decoder(place) {
    return decoders.get(this.data.decoders[place].digest);
  }

  /** Take over what Python says; returns the number of this call. */
  update(data, send) {
    this.send = send;
    const titles = JSON.stringify([data.decoders.map(({ title }) => title), data.decoders[0].pose.length]);
    this.data = data;
    if (titles !== this.titles) {
      this.titles = titles;
      this.build();
    }
    for (const { input } of this.sliders) Object.assign(input, { min: -data.reach, max: data.reach, step: data.step });
    this.take(data.offsets);
    this.refresh();
    return ++this.calls;
  }

  /** Offsets from Python: an echo of what was sent leaves the sliders alone, they may have moved on since. */
  take(offsets) {
    const text = JSON.stringify(offsets), echo = this.pending.indexOf(text);
    if (echo >= 0) this.pending.splice(0, echo + 1);
    else if (text !== this.told || !this.pending.length) {
      if (text === this.told && (this.dragging || this.timer)) return; // a new theme, say, under the visitor's hand
      this.pending = [];
      clearTimeout(this.timer);
      this.timer = 0;
      this.offsets = [...offsets];
    }
    this.told = text;
  }

  build() {
    const several = this.data.decoders.length > 1;
    this.root.classList.toggle("several", several);
    this.root.style.setProperty("--decoders", this.data.decoders.length);
    this.canvases = this.data.decoders.map(() => ({}));
    const pictures = element("div", { className: "pictures" });
    if (several) {
      const titles = this.data.decoders.map(({ title }) => element("h4", { textContent: title }));
      pictures.append(element("div", { className: "titles" }, titles));
    }
    for (const [row, caption] of Object.entries(ROWS)) {
      const key = row === "difference" ? [element("span", { className: "key" })] : [];
      const shown = this.canvases.map((own, place) => {
        own[row] = element("canvas", { className: row });
        own[row].setAttribute("role", "img");
        own[row].setAttribute("aria-label", `${caption}: ${this.data.decoders[place].title}`);
        return own[row];
      });
      const words = element("figcaption", {}, [element("span", { textContent: caption }), ...key]);
      pictures.append(element("figure", { className: row }, [words, element("div", { className: "canvases" }, shown)]));
    }
    this.sliders = this.data.decoders[0].pose.map((_, dimension) => this.slider(dimension));
    this.zero = element("button", { type: "button", className: "zero", textContent: "All to zero" });
    this.zero.onclick = (event) => {
      this.offsets.fill(0);
      this.moved(event.timeStamp);
      this.tell();
    };
    const hint = element("span", { className: "hint", textContent: "double-click a slider: back to zero" });
    const below = element("div", { className: "below" }, [this.zero, hint]);
    const grid = element("div", { className: "sliders" }, this.sliders.map(({ row }) => row));
    this.root.replaceChildren(pictures, element("div", { className: "controls" }, [grid, below]));
  }

  slider(dimension) {
    const input = element("input", { type: "range", id: `dimension-${dimension}` });
    const value = element("span", { className: "value" });
    const output = element("output", { htmlFor: input.id });
    const label = element("label", { htmlFor: input.id }, [element("b", { textContent: dimension }), value]);
    const row = element("div", { className: "slider" }, [label, input, output]);
    const set = (offset, event) => {
      this.offsets[dimension] = Math.round(offset * 100) / 100;
      this.moved(event.type === "input" ? this.hand ?? event.timeStamp : event.timeStamp);
      this.hand = undefined;
    };
    input.oninput = (event) => set(input.valueAsNumber, event);
    input.onpointerdown = () => (this.dragging = true);
    // `change` comes when the pointer lets go, but at every single key.
    input.onchange = () => (this.dragging ? this.tell() : this.tellSoon());
    input.ondblclick = (event) => {
      set(0, event);
      this.tell();
    };
    input.onkeydown = (event) => {
      if (event.key !== "Delete" && event.key !== "Backspace") return;
      event.preventDefault();
      set(0, event);
      this.tellSoon();
    };
    return { row, input, value, output };
  }

  tellSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(), QUIET);
  }

  /** Python hears where the sliders were left. */
  tell() {
    clearTimeout(this.timer);
    this.timer = 0;
    const text = JSON.stringify(this.offsets);
    if (text === (this.pending.at(-1) ?? this.told)) return;
    this.pending.push(text);
    this.send("offsets", [...this.offsets]);
  }

  /** A slider moved: draw in the next frame, once, however many events come before it. */
  moved(stamp) {
    this.stamp ??= stamp;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
      this.root.capsvizFrames++;
      this.painted.port2.postMessage(this.stamp);
      this.stamp = undefined;
    });
  }

  /** Everything anew: the capsules, the colours of the theme, or a decoder that has arrived. */
  refresh() {
    if (!this.data) return;
    const ready = this.data.decoders.every((_, place) => this.decoder(place));
    this.root.classList.toggle("waiting", !ready);
    this.root.dataset.ready = ready;
    const scale = this.data.scales[isDark(this.root) ? "dark" : "light"];
    this.colours = table(scale);
    const stops = scale.map(([at, colour]) => `${colour} ${at * 100}%`).join(", ");
    this.root.style.setProperty("--scale", `linear-gradient(to right, ${stops})`);
    if (!ready) return this.words();
    this.before = this.data.decoders.map(({ pose }, place) => this.decoder(place).draw(this.data.upper, pose));
    this.canvases.forEach((own, place) => paint(own.before, this.decoder(place).image, this.before[place]));
    this.draw();
  }

  draw() {
    this.words();
    this.data.decoders.forEach(({ pose }, place) => {
      const decoder = this.decoder(place);
      if (!decoder) return;
      const after = decoder.draw(this.data.upper, pose.map((value, d) => value + this.offsets[d]));
      paint(this.canvases[place].after, decoder.image, after);
      paintDifference(this.canvases[place].difference, decoder.image, this.before[place], after, this.colours);
    });
  }

  words() {
    const { reach, decoders: shown } = this.data, several = shown.length > 1;
    this.sliders.forEach((slider, d) => {
      const { row, input, value, output } = slider, offset = this.offsets[d];
      if (input.valueAsNumber !== offset) input.value = offset;
      if (slider.data === this.data && slider.offset === offset) return; // fifteen of sixteen, while one moves
      if (slider.data !== this.data) {
        value.textContent = several ? "" : signed(shown[0].pose[d]);
        const stands = shown.map(({ title, pose }) => `${title} ${signed(pose[d])}`).join(", ");
        row.title = `dimension ${d} of the capsule: ${several ? stands : value.textContent}`;
        input.setAttribute("aria-label", row.title);
      }
      output.textContent = offset ? signed(offset) : "0";
      input.setAttribute("aria-valuetext", `offset ${signed(offset)}`);
      row.classList.toggle("off-zero", offset !== 0);
      row.style.setProperty("--at", 0.5 + offset / (2 * reach)); // where the thumb stands, 0..1
      Object.assign(slider, { data: this.data, offset });
    });
    this.zero.disabled = !this.offsets.some(Boolean);
  }
}

function element(name, properties = {}, children = []) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function signed(number) {
  return (number < 0 ? "−" : "+") + Math.abs(number).toFixed(2);
}

// ------------------------------------------------------------------------------------------------------- the pixels

function surface(canvas, [, height, width]) {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true }); // a few hundred pixels: no GPU needed
  return [context, context.createImageData(width, height)];
}

function paint(canvas, image, values) {
  const [context, pixels] = surface(canvas, image), area = image[1] * image[2];
  for (let i = 0; i < area; i++) {
    for (let c = 0; c < 3; c++) pixels.data[4 * i + c] = 255 * values[image[0] === 3 ? c * area + i : i];
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
}

/** after − before, averaged over the channels, on the scale from −1 to 1. */
function paintDifference(canvas, image, before, after, colours) {
  const [context, pixels] = surface(canvas, image), area = image[1] * image[2];
  for (let i = 0; i < area; i++) {
    let sum = 0;
    for (let c = 0; c < image[0]; c++) sum += after[c * area + i] - before[c * area + i];
    const at = 3 * Math.round(255 + (255 * sum) / image[0]);
    for (let c = 0; c < 3; c++) pixels.data[4 * i + c] = colours[at + c];
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
}

/** A scale of [position, "#rrggbb"] as 511 colours. */
function table(stops) {
  const parsed = stops.map(([at, hex]) => [at, [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16))]);
  const colours = new Uint8ClampedArray(3 * 511);
  for (let i = 0; i < 511; i++) {
    const at = i / 510, upper = Math.max(1, parsed.findIndex(([stop]) => stop >= at));
    const [low, from] = parsed[upper - 1], [high, to] = parsed[upper];
    for (let c = 0; c < 3; c++) colours[3 * i + c] = from[c] + ((at - low) / (high - low)) * (to[c] - from[c]);
  }
  return colours;
}

function isDark(root) {
  // A canvas turns whatever notation the theme uses into "#rrggbb".
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = getComputedStyle(root).getPropertyValue("--st-background-color").trim() || "#ffffff";
  const [red, green, blue] = [1, 3, 5].map((place) => parseInt(context.fillStyle.slice(place, place + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}
