// Presenter mode at the key: the page changes at once, and Python, which makes its figures larger, follows.

const early = new CSSStyleSheet();

/**
 * Lay a sheet of style over the page, or take it away, also where Python's page still says otherwise; sheet: as Python
 * puts it on a page that it presents.
 */
export function present(presented: boolean, sheet: string): void {
  if (presented && !early.cssRules.length) early.replaceSync(sheet);
  const others = document.adoptedStyleSheets.filter((each) => each !== early);
  document.adoptedStyleSheets = presented ? [...others, early] : others;
  for (const style of document.querySelectorAll("style")) if (style.textContent === sheet) style.disabled = !presented;
}
