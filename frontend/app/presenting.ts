// Presenter mode at the key: the page changes at once, and Python, which makes its figures larger, follows.

const early = new CSSStyleSheet();

/** The page as presented or not, whatever Python's page still says; sheet: as Python puts it on a page that it presents. */
export function present(presented: boolean, sheet: string): void {
  if (presented && !early.cssRules.length) early.replaceSync(sheet);
  const others = document.adoptedStyleSheets.filter((each) => each !== early);
  document.adoptedStyleSheets = presented ? [...others, early] : others;
  document.documentElement.classList.toggle("ordinary", !presented); // Python's sheet does nothing then
}
