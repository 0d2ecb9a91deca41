// Arriving at a step: once for each time that a visitor is led to it, when the page stands.

import type { PlayerControls } from "../core/player-controls";
import { settled } from "./script-state";

export interface Arrival {
  /** Another one with each arrival. */
  readonly arrival: string;
  /** Part of the key of what is brought up to the step's words; empty: the page stands at its top. */
  readonly panel: string;
  readonly play: boolean;
  /** Where the view's players stand, as the link has it: null for the end. */
  readonly frame: number | null;
}

const SETTLING = 2500; // milliseconds from when the page stands in which pictures that come late may move the panel
const HANDS = ["wheel", "pointerdown", "touchstart", "keydown"] as const; // of a visitor, who then goes where they like

let last = "";
let stop = new AbortController();

export function arrive({ arrival, panel, play, frame }: Arrival, signal: AbortSignal): void {
  if (arrival === last) return;
  stop.abort();
  const way = (stop = new AbortController());
  const placed = new Set<PlayerControls>();
  let stood: number | undefined;
  const look = (now: number): void => {
    if (way.signal.aborted || (signal.aborted && stood === undefined)) return;
    if (stood === undefined && stands()) {
      [stood, last] = [now, arrival];
      for (const hand of HANDS) window.addEventListener(hand, () => way.abort(), { signal: way.signal, capture: true });
    }
    if (stood !== undefined) {
      bring(panel);
      const come = players().filter((player) => !placed.has(player));
      if (play && come.length && !placed.size) begin(panel, come);
      else for (const player of come) player.reset(frame);
      for (const player of come) placed.add(player);
    }
    if (stood === undefined || now - stood < SETTLING) requestAnimationFrame(look);
    else way.abort();
  };
  requestAnimationFrame(look);
}

/** The players that the page shows. */
function players(): PlayerControls[] {
  return (window.capsvizPlayers?.all ?? []).filter(({ root }) => root.checkVisibility());
}

function panelOf(panel: string): Element | null {
  return panel ? document.querySelector(`.stMainBlockContainer [class*="st-key-${panel}"]`) : null;
}

/** Whether the script has run and everything on the page is of that run. */
function stands(): boolean {
  return settled() && !document.querySelector('[data-stale="true"]');
}

/** Scroll so that a panel stands below the words of the step, or the page at its top. */
function bring(panel: string): void {
  const main = document.querySelector('[data-testid="stMain"]'),
    words = document.querySelector(".st-key-tour");
  if (!main || !words) return;
  const at = panelOf(panel);
  const wanted = at ? at.getBoundingClientRect().top - words.getBoundingClientRect().bottom - 8 : -main.scrollTop;
  if (Math.abs(wanted) > 1) main.scrollTop += wanted;
}

/** Have the player of the panel play from its start, else the first one. */
function begin(panel: string, seen: readonly PlayerControls[]): void {
  const at = panelOf(panel);
  const player = seen.find(({ root }) => at && holds(at, root)) ?? seen[0];
  player.reset(0);
  player.play();
}

/** Whether a node is within an element, also below the root of a shadow. */
function holds(element: Element, node: Node): boolean {
  for (let at: Node | null = node; at; at = at instanceof ShadowRoot ? at.host : at.parentNode)
    if (at === element) return true;
  return false;
}
