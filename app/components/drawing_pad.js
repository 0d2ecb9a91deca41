// The drawing pad: strokes in, a PNG out. The drawing lives here; Python hears of it after every change.
//
// A stroke is a list of points [x, y, width] on a square of SIDE units, whatever size the pad has on screen.
// `marks` is the history: strokes, and null where the pad was cleared, so that clearing can be undone as well.

const SIDE = 280; // also the pixels of the PNG: ten for each of MNIST's 28
const QUIET = 150; // milliseconds without a stroke before Python hears of the drawing
const NEAR = 0.8; // units; points closer to the one before say nothing new

const pads = new WeakMap(); // by the element that Streamlit mounts the component in

// Streamlit calls this at the mount and again whenever data or theme changes, but the clean-up only at the end; and
// the clean-up of a call that came too late may run after the next call. So only the latest call's clean-up counts.
export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".pad");
  let pad = pads.get(parentElement);
  if (pad?.root !== root) {
    pad?.close();
    pad = new Pad(root, data.pad, data.version, setStateValue);
    pads.set(parentElement, pad);
  }
  pad.tell = setStateValue;
  const call = (pad.latestCall = {});
  return () => {
    if (pad.latestCall !== call) return;
    pad.close();
    if (pads.get(parentElement) === pad) pads.delete(parentElement);
  };
}

class Pad {
  constructor(root, name, known, tell) {
    this.root = root;
    this.tell = tell;
    this.canvas = root.querySelector("canvas");
    this.screen = this.canvas.getContext("2d");
    this.undoButton = root.querySelector(".undo");
    this.clearButton = root.querySelector(".clear");
    this.slider = root.querySelector("input");
    this.storage = `capsviz-drawing-pad-1:${name}`;
    this.points = null; // of the stroke being drawn
    this.pointer = null; // whose stroke it is: other fingers and palms are ignored meanwhile
    const { marks = [], version = null, pen = 20 } = remembered(this.storage);
    Object.assign(this, { marks, version, pen });
    this.listen();
    this.fit();
    this.refresh();
    if (version !== (known ?? null)) this.tellSoon(true);
  }

  listen() {
    const { signal } = (this.listeners = new AbortController());
    const on = (target, type, listener) => target.addEventListener(type, listener, { signal });
    on(this.canvas, "pointerdown", (event) => this.begin(event));
    on(this.canvas, "pointermove", (event) => this.move(event));
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) {
      on(this.canvas, type, (event) => event.pointerId === this.pointer && this.end());
    }
    on(this.canvas, "contextmenu", (event) => event.preventDefault()); // a long press draws a dot
    on(this.undoButton, "click", () => this.undo());
    on(this.clearButton, "click", () => this.clear());
    on(this.slider, "input", () => this.choosePen(Number(this.slider.value)));
    on(this.root, "keydown", (event) => this.key(event));
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(this.canvas);
    this.watchResolution(signal);
  }

  // A window that is dragged to a projector changes its pixel ratio, not its size.
  watchResolution(signal) {
    const moved = () => {
      this.fit();
      this.watchResolution(signal);
    };
    const now = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    now.addEventListener("change", moved, { once: true, signal });
  }

  close() {
    if (this.points) this.end();
    clearTimeout(this.timer); // whoever mounts next finds another version than Python's and tells it
    this.listeners.abort();
    this.resized.disconnect();
  }

  // ---- drawing

  begin(event) {
    if (this.points || event.button !== 0) return;
    clearTimeout(this.timer);
    this.canvas.setPointerCapture(event.pointerId);
    this.pointer = event.pointerId;
    this.points = [];
    this.add(event, this.canvas.getBoundingClientRect());
    this.refresh();
  }

  move(event) {
    if (event.pointerId !== this.pointer) return;
    const box = this.canvas.getBoundingClientRect();
    const between = event.getCoalescedEvents?.() ?? []; // absent on pages served without TLS
    for (const each of between.length ? between : [event]) this.add(each, box);
  }

  add(event, box) {
    const x = ((event.clientX - box.left) / box.width) * SIDE;
    const y = ((event.clientY - box.top) / box.height) * SIDE;
    const last = this.points.at(-1);
    if (last && Math.hypot(x - last[0], y - last[1]) < NEAR) return;
    // Only pens feel pressure; 0.5 is what they report in the middle of their range.
    const width = event.pointerType === "pen" && event.pressure ? this.pen * (0.5 + event.pressure) : this.pen;
    this.points.push([x, y, width].map((value) => Math.round(value * 10) / 10));
    drawPiece(this.screen, this.points, this.points.length - 1);
  }

  end() {
    const stroke = this.points;
    this.points = this.pointer = null;
    drawEnd(this.screen, stroke);
    this.marks.push(stroke);
    this.changed();
  }

  undo() {
    if (this.points || !this.marks.length) return;
    this.marks.pop();
    this.redraw();
    this.changed();
  }

  clear() {
    if (this.points || !this.strokes().length) return;
    this.marks = [...this.strokes(), null];
    this.redraw();
    this.changed();
  }

  choosePen(width) {
    this.pen = width;
    this.save();
    this.refresh();
  }

  key(event) {
    const undo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    if (undo && event.key.toLowerCase() === "z") {
      event.preventDefault();
      event.stopPropagation();
      this.undo();
    } else if (event.target === this.slider || (event.target !== this.canvas && [" ", "Enter"].includes(event.key))) {
      event.stopPropagation(); // the slider's arrows and a button's space are no commands to the page
    }
  }

  // ---- what is drawn

  strokes() {
    return this.marks.slice(this.marks.lastIndexOf(null) + 1);
  }

  changed() {
    this.version = Date.now();
    this.save();
    this.refresh();
    this.tellSoon();
  }

  save() {
    const { marks, version, pen } = this;
    remember(this.storage, { marks, version, pen });
  }

  // again: nothing was drawn, Python only does not know it, as after a reload.
  tellSoon(again = false) {
    clearTimeout(this.timer);
    const told = () => this.tell("drawing", { png: this.png(), version: this.version, again });
    this.timer = setTimeout(told, QUIET);
  }

  png() {
    const strokes = this.strokes();
    if (!strokes.length) return null;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = SIDE;
    const context = inked(canvas);
    for (const stroke of strokes) drawStroke(context, stroke);
    return canvas.toDataURL("image/png").split(",")[1];
  }

  // ---- what is shown

  fit() {
    const pixels = Math.round(this.canvas.clientWidth * devicePixelRatio);
    if (!pixels || pixels === this.canvas.width) return; // no width while it is hidden
    this.canvas.width = this.canvas.height = pixels;
    this.redraw();
    this.refresh();
  }

  redraw() {
    inked(this.canvas);
    for (const stroke of this.strokes()) drawStroke(this.screen, stroke);
    this.points?.forEach((_, index) => drawPiece(this.screen, this.points, index));
  }

  refresh() {
    const count = this.strokes().length;
    this.root.querySelector(".hint").hidden = count > 0 || this.points !== null;
    const drawn = count === 0 ? "empty" : count === 1 ? "1 stroke" : `${count} strokes`;
    this.canvas.setAttribute("aria-label", `Drawing pad for mouse, pen or finger, ${drawn}`);
    const focused = this.root.getRootNode().activeElement;
    this.undoButton.disabled = this.marks.length === 0;
    this.clearButton.disabled = count === 0;
    if (focused?.disabled) this.canvas.focus({ preventScroll: true }); // keyboards would start at the top again
    this.slider.value = this.pen;
    const nib = this.root.querySelector(".nib span");
    nib.style.width = nib.style.height = `${(this.pen / SIDE) * (this.canvas.clientWidth || SIDE)}px`;
  }
}

/** The context of a square canvas, all black, in units of SIDE, with a round white pen. */
function inked(canvas) {
  const context = canvas.getContext("2d");
  context.setTransform(canvas.width / SIDE, 0, 0, canvas.height / SIDE, 0, 0);
  context.fillStyle = "#000";
  context.fillRect(0, 0, SIDE, SIDE);
  context.fillStyle = context.strokeStyle = "#fff";
  context.lineCap = context.lineJoin = "round";
  return context;
}

function drawStroke(context, points) {
  points.forEach((_, index) => drawPiece(context, points, index));
  drawEnd(context, points);
}

/** What point `index` adds: a dot, or a quadratic curve from middle to middle with the point before as its control. */
function drawPiece(context, points, index) {
  const [x, y, width] = points[index];
  if (index === 0) {
    context.beginPath();
    context.arc(x, y, width / 2, 0, 2 * Math.PI);
    context.fill();
    return;
  }
  const control = points[index - 1];
  const from = index === 1 ? control : middle(points[index - 2], control);
  const to = middle(control, points[index]);
  context.lineWidth = (control[2] + width) / 2;
  context.beginPath();
  context.moveTo(from[0], from[1]);
  context.quadraticCurveTo(control[0], control[1], to[0], to[1]);
  context.stroke();
}

/** The last half piece, from the middle to the last point. */
function drawEnd(context, points) {
  if (points.length < 2) return;
  const last = points.at(-1);
  const from = middle(points.at(-2), last);
  context.lineWidth = last[2];
  context.beginPath();
  context.moveTo(from[0], from[1]);
  context.lineTo(last[0], last[1]);
  context.stroke();
}

function middle(a, b) {
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
}

// The tab's own storage outlasts a reload and a pad that is taken off the page. Browsers may refuse it (private
// windows, full); then the drawing lasts as long as the pad is shown, and nothing else is lost.

function remembered(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name)) ?? {};
  } catch (error) {
    console.info(`No drawing can be brought back: ${error.message}`);
    return {};
  }
}

function remember(name, what) {
  try {
    sessionStorage.setItem(name, JSON.stringify(what));
  } catch (error) {
    console.info(`The drawing will not outlast the pad: ${error.message}`);
  }
}
