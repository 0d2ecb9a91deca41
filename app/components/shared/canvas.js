// Drawing on a canvas that is sharp on every screen, in the colours that Python sends.

/** An element with properties and children. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

/** The drawing context of a canvas of so many CSS pixels, cleared; one unit is one CSS pixel. */
function surface(canvas, width, height) {
  const ratio = (window.devicePixelRatio || 1) * (canvas.currentCSSZoom || 1); // presenter mode enlarges components
  const across = Math.round(width * ratio), down = Math.round(height * ratio);
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

/** Where on a canvas an event is, in the canvas's own CSS pixels, however much the page enlarges it. */
function pointed(canvas, event) {
  const box = canvas.getBoundingClientRect(), larger = box.width / canvas.offsetWidth || 1;
  return { x: (event.clientX - box.left) / larger, y: (event.clientY - box.top) / larger };
}

/** Red, green and blue of "#rrggbb". */
function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** Black or white, whichever is read more easily on a ground of red, green and blue (WCAG 2.2's contrast). */
function inkOn(ground) {
  const [red, green, blue] = [...ground].map((c) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179 ? "#ffffff" : "#000000";
}

/** A colour scale, stops [[position, "#rrggbb"], …] from 0 to 1, as a table: 256 colours as bytes and as CSS. */
function colourTable(stops) {
  const bytes = new Uint8ClampedArray(256 * 3), css = [];
  for (let i = 0; i < 256; i++) {
    const t = i / 255;
    let k = 0;
    while (k + 2 < stops.length && t > stops[k + 1][0]) k++;
    const [[left, from], [right, to]] = [stops[k], stops[k + 1]];
    const share = Math.min(1, Math.max(0, (t - left) / (right - left || 1)));
    const a = channels(from), b = channels(to);
    for (let c = 0; c < 3; c++) bytes[3 * i + c] = Math.round(a[c] + share * (b[c] - a[c]));
    css.push(`rgb(${bytes[3 * i]},${bytes[3 * i + 1]},${bytes[3 * i + 2]})`);
  }
  return {
    bytes,
    css,
    /** Place in the table of a value between low and high. */
    at: (value, low, high) => Math.max(0, Math.min(255, Math.round((255 * (value - low)) / (high - low || 1)))),
  };
}

/** A grid of numbers as a picture of one pixel per number, to be stretched without smoothing; NaN stays clear. */
function raster(values, columns, rows, table, low, high) {
  const image = new ImageData(columns, rows);
  for (let i = 0; i < columns * rows; i++) {
    if (Number.isNaN(values[i])) continue;
    const at = 3 * table.at(values[i], low, high);
    image.data[4 * i] = table.bytes[at];
    image.data[4 * i + 1] = table.bytes[at + 1];
    image.data[4 * i + 2] = table.bytes[at + 2];
    image.data[4 * i + 3] = 255;
  }
  const canvas = new OffscreenCanvas(columns, rows);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** The context of a canvas of one pixel per number of an image "channel height width", and pixels to fill. */
function pixelsOf(canvas, [, height, width]) {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true }); // a few hundred pixels: no GPU needed
  return [context, context.createImageData(width, height)];
}

/** Paint an image of numbers in 0..1 on a canvas of one pixel per number; gives the canvas. */
function paint(canvas, image, values) {
  const [context, pixels] = pixelsOf(canvas, image), area = image[1] * image[2];
  for (let i = 0; i < area; i++) {
    for (let c = 0; c < 3; c++) pixels.data[4 * i + c] = 255 * values[image[0] === 3 ? c * area + i : i];
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}

/** A number with so many decimals and a true minus sign, which a zero has not. */
function shown(value, decimals = 3) {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** Top, left, bottom and right, in pixels of an image, of what the capsules at a place of the grid see; see geometry.py. */
function seen({ size, stride, beyond }, [, height, width], [row, column]) {
  const from = [row, column].map((at, axis) => at * stride[axis] - beyond[axis]);
  const [bottom, right] = [height, width].map((side, axis) => Math.min(side, from[axis] + size[axis]));
  return [Math.max(0, from[0]), Math.max(0, from[1]), bottom, right];
}
