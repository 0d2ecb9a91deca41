// Class capsules drawn by their decoders at every move of a hand: on sliders, on the cells of all capsules, on a walk.
//
// The module is mounted twice over. Once for each decoder with its packed weights as bytes (`keep`), which arrive once,
// and once with everything else as JSON: capsules, titles, colours, and what the visitor left them at.

const KEPT = 16; // decoders; the weights of one take about 6 MB as float32
const RECORDED = 2000; // latencies
const QUIET = 180; // milliseconds without another key before Python hears the value that keys left behind

const decoders = new Map(); // digest -> Decoder, the oldest first
const arrivals = new EventTarget(); // "decoder": another one is in the map

export default function ({ data, parentElement, setTriggerValue }) {
  return data instanceof Uint8Array ? keep(data)
    : mount(Board, parentElement, (board) => board.update(data, setTriggerValue));
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

const ROWS = { before: "as it is", after: "moved", difference: "difference" };
const HANDS = { sliders: Sliders, cells: Cells, walk: Walk };

class Board {
  constructor(parent) {
    this.told = new Told();
    this.root = element("section", { className: "live-decoder" });
    // For tests and `capsviz benchmark app`: milliseconds from the visitor's event to the painted canvas.
    this.root.capsvizLatencies = this.latencies = [];
    this.root.capsvizFrames = 0;
    this.root.capsvizDecode = (place, pose) => this.decoder(place).draw([[this.state.upper, pose]]);
    this.root.capsvizWalk = (place, share, sphere) => this.decoder(place).draw(this.panel.capsules(place, share, sphere));
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
    this.panel?.destroy();
    this.root.remove();
  }

  decoder(place) {
    return decoders.get(this.data.decoders[place].digest);
  }

  /** Take over what Python says. */
  update(data, send) {
    this.send = send;
    const titles = data.decoders.map(({ title }) => title);
    const plan = JSON.stringify([titles, data.decoders[0].poses[0].length, data.hand, data.classes]);
    this.data = data;
    this.take(data.state, data.heard.left);
    if (plan !== this.plan) {
      this.plan = plan;
      this.build();
    }
    this.refresh();
  }

  /** What Python says, where it is news; under the visitor's hand it may be no more than a new theme. */
  take(state, heard) {
    if (!this.told.news(left(state), heard, this.dragging || this.timer)) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.state = structuredClone(state);
  }

  build() {
    const several = this.data.decoders.length > 1;
    this.root.classList.toggle("several", several);
    this.root.dataset.hand = this.data.hand;
    this.root.style.setProperty("--decoders", this.data.decoders.length);
    this.canvases = this.data.decoders.map(() => ({}));
    const pictures = element("div", { className: "pictures" });
    if (several) {
      const titles = this.data.decoders.map(({ title }) => element("h4", { textContent: title }));
      pictures.append(element("div", { className: "titles" }, ...titles));
    }
    for (const [row, caption] of Object.entries(ROWS)) {
      const key = row === "difference" ? [element("span", { className: "key" })] : [];
      const shown = this.canvases.map((own, place) => {
        const label = `${caption}: ${this.data.decoders[place].title}`;
        return (own[row] = element("canvas", { className: row, role: "img", "aria-label": label }));
      });
      const words = element("figcaption", {}, element("span", { textContent: caption }), ...key);
      pictures.append(element("figure", { className: row }, words, element("div", { className: "canvases" }, ...shown)));
    }
    this.panel?.destroy();
    this.panel = new HANDS[this.data.hand](this);
    this.root.replaceChildren(pictures, this.panel.root);
  }

  /** Move one number of the capsule. */
  offset(dimension, offset, stamp) {
    const { reach } = this.data;
    this.state.offsets[dimension] = Math.round(Math.max(-reach, Math.min(reach, offset)) * 100) / 100;
    this.moved(stamp);
    this.hand = undefined;
  }

  reset(event) {
    this.state.offsets.fill(0);
    this.moved(event.timeStamp);
    this.tell();
  }

  /** Another class capsule. On all capsules at once it stands as it is: an offset belongs to the row that it is on. */
  select(label, tell = true) {
    if (this.state.upper !== label) {
      this.state.upper = label;
      if (this.data.hand === "cells") this.state.offsets.fill(0);
      this.refresh();
    }
    if (tell) this.tell();
  }

  tellSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(), QUIET);
  }

  /** Python hears where the visitor left everything; not while something plays. */
  tell() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.panel.playing) return this.tellSoon();
    const now = left(this.state);
    if (this.told.worth(now)) this.send("left", now);
  }

  /** Something moved: draw in the next frame, once, however many events come before it. */
  moved(stamp) {
    this.stamp ??= stamp;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
      this.root.capsvizFrames++;
      if (this.stamp !== undefined) this.painted.port2.postMessage(this.stamp);
      this.stamp = undefined;
    });
  }

  /** Everything anew: the capsules, the colours of the theme, or a decoder that has arrived. */
  refresh() {
    if (!this.data) return;
    const { upper } = this.state, ready = this.data.decoders.every((_, place) => this.decoder(place));
    this.root.classList.toggle("waiting", !ready);
    this.root.dataset.ready = ready;
    const scale = this.data.scales[isDark(this.root) ? "dark" : "light"];
    this.colours = colourTable(scale);
    const stops = scale.map(([at, colour]) => `${colour} ${at * 100}%`).join(", ");
    this.root.style.setProperty("--scale", `linear-gradient(to right, ${stops})`);
    this.panel.refresh();
    if (!ready) return this.panel.words();
    this.before = this.data.decoders.map(({ poses }, place) => this.decoder(place).draw([[upper, poses[upper]]]));
    this.canvases.forEach((own, place) => paint(own.before, this.decoder(place).image, this.before[place]));
    this.draw();
  }

  /** The chosen class capsule of a decoder with the offsets added. */
  movedPose(place) {
    return this.data.decoders[place].poses[this.state.upper].map((value, d) => value + this.state.offsets[d]);
  }

  draw() {
    this.panel.words();
    this.data.decoders.forEach((_, place) => {
      const decoder = this.decoder(place);
      if (!decoder) return;
      const after = decoder.draw(this.panel.capsules?.(place) ?? [[this.state.upper, this.movedPose(place)]]);
      paint(this.canvases[place].after, decoder.image, after);
      paintDifference(this.canvases[place].difference, decoder.image, this.before[place], after, this.colours);
    });
  }
}

/** What the visitor left everything at, as a link keeps it: with two decimals. */
function left({ upper, offsets, to, share, sphere }) {
  return { upper, offsets: [...offsets], to, share: Math.round(100 * share) / 100, sphere };
}
