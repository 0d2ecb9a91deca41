// Arriving at a step: once for each time that a visitor is led to it, when the page stands.

import { calm } from "../core/motion";
import type { PlayerControls } from "../core/player-controls";
import { settled } from "./script-state";

export interface Arrival {
  readonly tour: string;
  readonly step: number;
  /** Another one each time that the tour has led to a step; Back and Forward lead to one as it was left. */
  readonly arrival: number;
  /** Part of the key of what is brought up to the step's words; empty: the page stands at its top. */
  readonly panel: string;
  readonly play: boolean;
}

const SETTLING = 2500; // milliseconds from when the page stands in which pictures that come late may move the panel
const FRAME = 4; // pixels of the mark around a panel, as tour.css draws it
const ROOM = "--tour-room"; // below the page, as tour.css gives it
const HANDS = ["wheel", "pointerdown", "touchstart", "keydown"] as const; // of a visitor, who then goes where they like

const STEPS = '[class*="st-key-card-"] [data-testid="stPageLink"] a'; // on the page Tours

let last = ""; // the step, and which arrival that was
let led: number | undefined;
let linked = false; // by a step's own link, which leads to it as the tour does
let way = new AbortController(); // until the step stands, or a hand moves it
let until = 0;

const follow = ({ target }: Event): void => {
  if (target instanceof Element && target.closest(STEPS)) [last, linked] = ["", true];
};
document.addEventListener("click", follow, { capture: true });
const back = ({ isTrusted }: Event): void => {
  if (isTrusted) linked = false; // not where the page only asks again
};
window.addEventListener("popstate", back, { capture: true });

export function arrive({ tour, step, arrival, panel, ...how }: Arrival, signal: AbortSignal): void {
  const here = `${tour} ${step} ${arrival}`;
  if (here === last) return;
  way.abort();
  const mine = (way = new AbortController());
  const placed = new Set<PlayerControls>();
  const play = how.play && (linked || arrival !== led) && !calm();
  const stand = (): void => {
    bring(panel);
    const come = players().filter((player) => !placed.has(player));
    if (play && come.length && !placed.size) begin(panel, come);
    else for (const player of come) player.arrive();
    for (const player of come) placed.add(player);
  };
  const wait = (): void => {
    if (mine.signal.aborted || signal.aborted) return;
    if (!stands()) return void requestAnimationFrame(wait);
    [last, led, linked] = [here, arrival, false];
    settle(mine, stand);
  };
  requestAnimationFrame(wait);
}

/** Bring the panel up again wherever the window gets another width: a phone changes its height while it scrolls. */
export function keepUp(panel: string, signal: AbortSignal): void {
  let width = window.innerWidth;
  const resized = (): void => {
    if (!panel || window.innerWidth === width) return;
    width = window.innerWidth;
    until = performance.now() + SETTLING;
    if (way.signal.aborted) settle((way = new AbortController()), () => bring(panel));
  };
  window.addEventListener("resize", resized, { signal });
}

/** Do something with each frame while pictures come, until a visitor's hand ends it. */
function settle(mine: AbortController, act: () => void): void {
  const { signal } = mine;
  for (const hand of HANDS) window.addEventListener(hand, () => mine.abort(), { signal, capture: true });
  scroller()?.style.removeProperty(ROOM);
  until = performance.now() + SETTLING;
  const look = (): void => {
    if (signal.aborted) return;
    act();
    if (performance.now() < until) requestAnimationFrame(look);
    else mine.abort();
  };
  look();
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

function scroller(): HTMLElement | null {
  return document.querySelector('[data-testid="stMain"]');
}

/**
 * Scroll so that a panel stands right below the words of the step, with nothing half hidden between, or the page at its
 * top, also where the words do not stay there: they are read first. A page that ends too soon for that gets more room.
 */
function bring(panel: string): void {
  const main = scroller(),
    words = document.querySelector(".st-key-tour"),
    at = panelOf(panel);
  if (!main || !words) return;
  const stays = isSticky(words);
  const gap = (): number =>
    at && stays ? at.getBoundingClientRect().top - FRAME - words.getBoundingClientRect().bottom : -main.scrollTop;
  const scroll = (): void => {
    if (Math.abs(gap()) > 1) main.scrollTop += gap();
  };
  scroll();
  const stuck = Math.abs(words.getBoundingClientRect().top - main.getBoundingClientRect().top) < 2;
  if (!stuck || gap() <= 1) return;
  const room = Number.parseFloat(main.style.getPropertyValue(ROOM)) || 0;
  main.style.setProperty(ROOM, `${room + gap()}px`);
  scroll();
}

/** Whether something stays in sight while the page is scrolled. */
function isSticky(words: Element): boolean {
  for (let each: Element | null = words; each; each = each.parentElement)
    if (getComputedStyle(each).position === "sticky") return true;
  return false;
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
