// Lines, rings, labels and where a point lies: what several pictures need.

function line(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

function ring(pen, [x, y], radius) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.stroke();
}

/** A step of 1, 2 or 5 times a power of ten, not below `least`. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least * 0.999);
}

function decimals(step) {
  return Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
}

/** The end of a line from a point inside a box, cut at its border; whether it was cut. */
function within([x0, y0], [x1, y1], left, top, right, bottom) {
  let share = 1;
  if (x1 > right) share = Math.min(share, (right - x0) / (x1 - x0));
  if (x1 < left) share = Math.min(share, (left - x0) / (x1 - x0));
  if (y1 > bottom) share = Math.min(share, (bottom - y0) / (y1 - y0));
  if (y1 < top) share = Math.min(share, (top - y0) / (y1 - y0));
  return [[x0 + share * (x1 - x0), y0 + share * (y1 - y0)], share < 1];
}

/** The path of a triangle of about the area of a disc of this radius, its tip at a point that it is turned towards. */
function arrowhead(pen, x, y, radius, angle) {
  for (const [along, aside] of [[0.9, 0], [-1.5, 1.35], [-1.5, -1.35]]) {
    pen.lineTo(
      x + radius * (along * Math.cos(angle) - aside * Math.sin(angle)),
      y + radius * (along * Math.sin(angle) + aside * Math.cos(angle)),
    );
  }
  pen.closePath();
}

/** Whether a point lies in a polygon (even-odd rule). */
function contains(polygon, [x, y]) {
  let inside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i], [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

/** Text that reads on whatever lies below it. */
function haloed(pen, text, x, y, look) {
  pen.textAlign = "center";
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = look.ground;
  pen.strokeText(text, x, y);
  pen.fillStyle = look.text;
  pen.fillText(text, x, y);
  pen.textAlign = "left";
}

/** Lines of text in a box beside a point, inside the width of the picture. */
function bubble(pen, lines, [x, y], width, look) {
  pen.font = `${look.px(14)} ${look.font}`;
  const across = Math.max(...lines.map((text) => pen.measureText(text).width)) + 16, down = 19 * lines.length + 10;
  const left = x + 14 + across > width ? x - 14 - across : x + 14, top = Math.max(2, y - down / 2);
  pen.fillStyle = look.ground;
  pen.strokeStyle = look.muted;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.roundRect(Math.max(2, left), top, across, down, 6);
  pen.fill();
  pen.stroke();
  pen.fillStyle = look.text;
  pen.textAlign = "left";
  lines.forEach((text, k) => pen.fillText(text, Math.max(2, left) + 8, top + 19 * (k + 1)));
}
