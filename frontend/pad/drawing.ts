// A drawing: strokes of a round pen, and how they look on a canvas.

/** Units along a side of the square that is drawn on, and pixels of its PNG: ten for each of MNIST's 28. */
export const SIDE = 280;
const NEAR = 0.8; // units; points closer to the one before say nothing new

/** x, y and the width of the pen there, in units. */
export type Point = readonly [number, number, number];
export type Stroke = readonly Point[];
/** The history: strokes, and null where the pad was cleared, so that clearing can be undone as well. */
export type Mark = Stroke | null;

/** The strokes that are on the paper. */
export function strokesOf(marks: readonly Mark[]): Stroke[] {
  return marks.slice(marks.lastIndexOf(null) + 1).filter((mark) => mark !== null);
}

/** The history after clearing. */
export function cleared(marks: readonly Mark[]): Mark[] {
  return [...strokesOf(marks), null];
}

/** Add a point to a stroke, to a tenth of a unit; whether it says anything new. */
export function extend(stroke: Point[], x: number, y: number, width: number): boolean {
  const last = stroke.at(-1);
  if (last && Math.hypot(x - last[0], y - last[1]) < NEAR) return false;
  const rounded = (value: number): number => Math.round(value * 10) / 10;
  stroke.push([rounded(x), rounded(y), rounded(width)]);
  return true;
}

/** The context of a square canvas, all black, in units of SIDE, with a round white pen. */
export function inked(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser draws on no canvas.");
  context.setTransform(canvas.width / SIDE, 0, 0, canvas.height / SIDE, 0, 0);
  context.fillStyle = "#000";
  context.fillRect(0, 0, SIDE, SIDE);
  context.fillStyle = context.strokeStyle = "#fff";
  context.lineCap = context.lineJoin = "round";
  return context;
}

export function drawStroke(context: CanvasRenderingContext2D, points: Stroke): void {
  points.forEach((_, index) => drawPiece(context, points, index));
  drawEnd(context, points);
}

/** What point `index` adds: a dot, or a quadratic curve from middle to middle with the point before as its control. */
export function drawPiece(context: CanvasRenderingContext2D, points: Stroke, index: number): void {
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
export function drawEnd(context: CanvasRenderingContext2D, points: Stroke): void {
  const last = points.at(-1);
  const before = points.at(-2);
  if (!last || !before) return;
  const from = middle(before, last);
  context.lineWidth = last[2];
  context.beginPath();
  context.moveTo(from[0], from[1]);
  context.lineTo(last[0], last[1]);
  context.stroke();
}

function middle(a: Point, b: Point): [number, number] {
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
}
