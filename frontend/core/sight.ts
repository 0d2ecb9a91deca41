// What is out of sight is drawn when it comes into sight, or a moment after the last change of anything out of sight:
// nobody misses it meanwhile, and what is in sight is drawn the sooner.

const LATER = 120; // milliseconds without a change after which what is out of sight is drawn as well

const seen = new WeakMap<Element, boolean>();
const owed = new Map<Element, () => void>();
let sight: IntersectionObserver | undefined;
let waiting: number | undefined;

/** Draw what is owed in a place; what cannot be drawn keeps nothing else from it. */
function pay(place: Element): void {
  const draw = owed.get(place);
  owed.delete(place);
  try {
    draw?.();
  } catch (error) {
    reportError(error);
  }
}

/** Draw in a place of the page: at once where it is in sight, or nothing is known of it yet. */
export function drawIn(place: Element, draw: () => void): void {
  if (!seen.has(place)) {
    sight ??= new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        seen.set(target, isIntersecting);
        if (isIntersecting) pay(target);
      }
    });
    seen.set(place, true);
    sight.observe(place);
  }
  if (seen.get(place)) {
    owed.delete(place);
    draw();
    return;
  }
  owed.set(place, draw);
  window.clearTimeout(waiting);
  waiting = window.setTimeout(() => {
    for (const each of [...owed.keys()]) pay(each);
  }, LATER);
}
