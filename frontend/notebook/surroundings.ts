// Whether the page around a board is light or dark, as its reader sees it.

import { painted } from "../core/canvas";
import { above } from "../core/dom";

/** Whether the page is dark behind an element: by the first ground above it that is painted. */
export function isDarkBehind(node: Element): boolean {
  for (let at: Element | null = node; at; at = above(at)) {
    const [red, green, blue, seen] = painted(getComputedStyle(at).backgroundColor);
    if (seen > 127) return red + green + blue < 384;
  }
  const [red, green, blue, seen] = painted(getComputedStyle(node).color);
  if (node.isConnected && seen > 127) return red + green + blue > 384; // light letters stand on a dark page
  const { colorScheme } = getComputedStyle(document.documentElement);
  if (!colorScheme.includes("dark")) return false;
  return !colorScheme.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Call back where the page around an element has become light or dark. */
export function onTurn(node: Element, turned: (dark: boolean) => void, signal: AbortSignal): void {
  let dark = isDarkBehind(node);
  const look = (): void => {
    if (signal.aborted || !node.isConnected) return;
    const now = isDarkBehind(node);
    if (now === dark) return;
    dark = now;
    turned(now);
  };
  // Notebooks say their theme on one of these; a sheet of it may come later.
  const watch = new MutationObserver(() => {
    look();
    setTimeout(look, SHEET);
  });
  for (const each of [document.documentElement, document.body, document.head])
    watch.observe(each, { attributes: true, childList: each === document.head });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", look, { signal });
  const come = new ResizeObserver(look); // once it is on the page
  come.observe(node);
  signal.addEventListener("abort", () => {
    watch.disconnect();
    come.disconnect();
  });
}

const SHEET = 500; // milliseconds
