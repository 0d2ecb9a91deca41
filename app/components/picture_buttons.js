// SVG and PNG of a figure on the page, by the Plotly that drew it.

export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = async () => {
      const { format } = button.dataset;
      const plot = document.querySelector(`.st-key-${CSS.escape(data.plot)} .js-plotly-plot`);
      button.disabled = true;
      try {
        // Plotly is on the page as soon as the figure is; without width and height it takes the figure's own.
        await window.Plotly.downloadImage(plot, { format, filename: data.name, scale: format === "png" ? data.scale : 1 });
      } finally {
        button.disabled = false;
      }
    };
  }
}
