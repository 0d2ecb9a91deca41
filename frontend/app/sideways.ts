// Figures and tables that are wider than a narrow page, which has them scroll sideways: by keys as well.

const PLACES = '[data-testid="stMain"] :is([class*="st-key-"], .stMarkdown)';
const MARK = "data-sideways";

/** What scrolls sideways may have the focus, and then the arrows are its own, not a player's. */
export function byKeys(signal: AbortSignal): void {
  const look = (): void => document.querySelectorAll<HTMLElement>(PLACES).forEach(focusable);
  const grown = new ResizeObserver(look);
  document.querySelectorAll('[data-testid="stMainBlockContainer"]').forEach((page) => grown.observe(page));
  signal.addEventListener("abort", () => grown.disconnect());
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "Tab") look(); // what has been drawn anew as high as before
    const own = event.target instanceof Element && event.target.hasAttribute(MARK);
    if (own && /^Arrow(Left|Right)$/.test(event.key)) event.stopPropagation();
  };
  document.addEventListener("keydown", pressed, { signal, capture: true });
}

function focusable(place: HTMLElement): void {
  const scrolls = place.scrollWidth > place.clientWidth && getComputedStyle(place).overflowX === "auto";
  if (scrolls === place.hasAttribute(MARK)) return;
  const name = `${place.querySelector("table") ? "Table" : "Figure"}, wider than the page: ← and → move it`;
  for (const [attribute, value] of Object.entries({ [MARK]: "", tabindex: "0", role: "group", "aria-label": name })) {
    if (scrolls) place.setAttribute(attribute, value);
    else place.removeAttribute(attribute);
  }
}
