// Everything that a page of the app shows and where its links lead, as lines of text: what two pages that say the same
// have in common, whichever way one came to them.
() => {
  const said = [];
  const hash = (text) => {
    let sum = 7;
    for (let k = 0; k < text.length; k++) sum = (31 * sum + text.charCodeAt(k)) | 0;
    return sum;
  };
  const numbers = ({ z, x, y, text, link, marker }) => JSON.stringify([z, x, y, text, link?.value, marker?.size, marker?.line]);
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.textContent.replace(/\s+/g, " ").trim();
      if (text) said.push(text);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE && !(node instanceof ShadowRoot)) return;
    if (node.nodeType === Node.ELEMENT_NODE) {
      // A name in a tooltip, a style, what belongs to nobody's choice (an announcement, the running man), is left out.
      if (node.matches("style, script, title, noscript, .stStatusWidget, [data-testid='stHeader'], .stTooltipIcon, dialog")) return;
      if (node.matches(".js-plotly-plot")) {
        const notes = (node._fullLayout?.annotations ?? []).map(({ text }) => text);
        said.push(`figure ${(node.data ?? []).map(numbers).map(hash)} ${notes}`);
        return;
      }
      if (node.matches("canvas")) said.push(`canvas ${node.width} × ${node.height} ${hash(node.toDataURL())}`);
      if (node.matches("img")) said.push(`image ${hash(node.src)}`);
      if (node.matches("input:not([type=file])")) said.push(`field ${node.type} ${node.checked} ${node.value}`);
      if (node.matches("a[href]")) said.push(`link ${node.getAttribute("href")}`);
      if (node.matches("[aria-checked=true], [aria-pressed=true]")) said.push("chosen:");
    }
    if (node.shadowRoot) walk(node.shadowRoot);
    for (const child of node.childNodes) walk(child);
  };
  walk(document.querySelector('[data-testid="stSidebar"]'));
  walk(document.querySelector('[data-testid="stMain"]'));
  return said;
}
