// Fingers over a chart of Plotly's, which would keep them to itself to be moved under them.

/** A swipe scrolls the page as beside the chart, and a tap comes to it as the browser's click. */
export function passOver(signal: AbortSignal): void {
  const touched = (event: TouchEvent): void => {
    if (event.target instanceof Element && event.target.closest(".stPlotlyChart")) event.stopPropagation();
  };
  document.addEventListener("touchstart", touched, { signal, capture: true, passive: true });
}
