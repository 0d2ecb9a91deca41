// SVG and PNG of a figure on the page, by the Plotly that drew it.

import "./buttons.css";
import "./picture-buttons.css";
import type { Component } from "./component";

interface Data {
  readonly plot: string;
  readonly name: string;
  readonly scale: number;
}

declare global {
  interface Window {
    Plotly: { downloadImage(plot: Element | null, options: object): Promise<string> };
  }
}

export default function ({ data, parentElement }: Component<Data>): void {
  for (const button of parentElement.querySelectorAll("button")) {
    const save = async (): Promise<void> => {
      const { format } = button.dataset;
      const filename = data.name;
      const plot = document.querySelector(`.st-key-${CSS.escape(data.plot)} .js-plotly-plot`);
      button.disabled = true;
      try {
        // Plotly is on the page as soon as the figure is; without width and height it takes the figure's own.
        await window.Plotly.downloadImage(plot, { format, filename, scale: format === "png" ? data.scale : 1 });
      } finally {
        button.disabled = false;
      }
    };
    button.onclick = () => void save();
  }
}
