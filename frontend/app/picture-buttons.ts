// SVG and PNG of a figure on the page, by the Plotly that drew it.

import "./buttons.css";
import "./picture-buttons.css";
import { element } from "../core/dom";
import { save } from "../core/save";
import type { Component } from "./component";

interface Data {
  readonly plot: string;
  readonly name: string;
  readonly scale: number;
}

declare global {
  interface Window {
    Plotly: Record<"downloadImage" | "toImage", (plot: Element | null, options: object) => Promise<string>>;
  }
}

/** An SVG whose words are as wide in any typeface as in that of the page: a wider one would be cut off in a legend. */
function held(svg: string): string {
  const { documentElement: root } = new DOMParser().parseFromString(svg, "image/svg+xml");
  const place = element("div", { style: "position:fixed;visibility:hidden" }, root);
  document.body.append(place); // only there they have a width
  for (const words of root.querySelectorAll<SVGTextContentElement>("text, tspan")) {
    if (words.childElementCount || !words.textContent.trim()) continue;
    words.setAttribute("textLength", words.getComputedTextLength().toFixed(2));
    words.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  place.remove();
  return new XMLSerializer().serializeToString(root);
}

export default function ({ data, parentElement }: Component<Data>): void {
  for (const button of parentElement.querySelectorAll("button")) {
    const take = async (): Promise<void> => {
      const { format } = button.dataset;
      const filename = data.name;
      const plot = document.querySelector(`.st-key-${CSS.escape(data.plot)} .js-plotly-plot`);
      button.disabled = true;
      try {
        // Plotly is on the page as soon as the figure is; without width and height it takes the figure's own.
        if (format === "png") {
          await window.Plotly.downloadImage(plot, { format, filename, scale: data.scale });
        } else {
          const svg = held(await window.Plotly.toImage(plot, { format, imageDataOnly: true }));
          save(new Blob([svg], { type: "image/svg+xml" }), `${filename}.svg`);
        }
      } finally {
        button.disabled = false;
      }
    };
    button.onclick = () => void take();
  }
}
