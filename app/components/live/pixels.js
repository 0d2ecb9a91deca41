// What two images differ by, and whether the page is dark.

/** after − before, averaged over the channels, on the scale from −1 to 1. */
function paintDifference(canvas, image, before, after, colours) {
  const [context, pixels] = pixelsOf(canvas, image), area = image[1] * image[2];
  for (let i = 0; i < area; i++) {
    let sum = 0;
    for (let c = 0; c < image[0]; c++) sum += after[c * area + i] - before[c * area + i];
    const at = 3 * colours.at(sum / image[0], -1, 1);
    for (let c = 0; c < 3; c++) pixels.data[4 * i + c] = colours.bytes[at + c];
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
}

function isDark(root) {
  // A canvas turns whatever notation the theme uses into "#rrggbb".
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = getComputedStyle(root).getPropertyValue("--st-background-color").trim() || "#ffffff";
  const [red, green, blue] = channels(context.fillStyle);
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}

function signed(number, decimals = 2) {
  return (number < 0 ? "−" : "+") + Math.abs(number).toFixed(decimals);
}
