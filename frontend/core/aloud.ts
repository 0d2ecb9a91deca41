// What boards say to those who do not see them: once it has stood for a moment, and never while something plays.

import { element } from "./dom";

const STILL = 700; // milliseconds without another word after which it is said
const HEARD = 5000; // milliseconds that a word stays: by then it is on its way to the ear

const changed = new Set<HTMLElement>();
const said = new WeakMap<HTMLElement, string>();
let timer: number | undefined;

/** A place whose words are said whenever it comes to rest with others than before. */
export function aloud<Place extends HTMLElement>(place: Place): Place {
  region(); // what stands in a place that is new as well is not said everywhere
  const heard = new MutationObserver(() => {
    changed.add(place);
    later();
  });
  heard.observe(place, { childList: true, characterData: true, subtree: true });
  return place;
}

function later(): void {
  window.clearTimeout(timer);
  timer = window.setTimeout(say, STILL);
}

function say(): void {
  const playing = window.capsvizPlayers?.all.some((player) => player.timer);
  for (const place of changed) {
    const words = place.textContent;
    if (!said.has(place)) said.set(place, words); // what stands there at first is read, not told
    if (playing) continue;
    if (said.get(place) !== words && place.checkVisibility() && !saidBySlider(place, words)) {
      const line = element("p", { textContent: words });
      region().append(line);
      window.setTimeout(() => line.remove(), HEARD);
    }
    said.set(place, words);
  }
  if (playing) later();
  else changed.clear();
}

/** Whether the slider in the hand says the same. */
function saidBySlider(place: HTMLElement, words: string): boolean {
  const { activeElement } = place.getRootNode() as Document | ShadowRoot;
  return activeElement?.getAttribute("aria-valuetext") === words;
}

/** Where the words are put, one place for the boards of all bundles. */
function region(): HTMLElement {
  const there = document.querySelector<HTMLElement>(".capsviz-aloud");
  if (there) return there;
  const style = "position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
  const made = element("div", { className: "capsviz-aloud", "aria-live": "polite", style });
  document.body.append(made);
  return made;
}
