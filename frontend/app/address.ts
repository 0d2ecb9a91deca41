// Whether the page shows the address that Back or Forward led to; if it does not for a while, Streamlit is told, once, as
// these tell it: a message of our own would name the page that Streamlit last drew, beside the newer address, and undo a
// Back that leads to another page. An address that the app wrote is ahead of its page only until that has come: asked for,
// it would put all of the page up anew and undo what the hand has done since. What Streamlit keeps in an address for
// itself (?embed=true) is no part of that.

import type { Component } from "./component";
import { settled } from "./script-state";

const PATIENCE = 800; // milliseconds in which a run that is under way may bring page and address together
// Back and Forward, and a hand: what it does brings the address along, and to be told of that right behind it undoes it.
const MOVES = ["popstate", "pointerdown", "keydown"] as const;

let led: string | undefined; // the address that Back or Forward led to; undefined before anything listens
let said = ""; // the address that Streamlit was told of; a page that differs from it still would ask without end
let stop = (): void => undefined; // the call before this one: Streamlit does not end it when the data changes

export default function ({ data }: Component<Record<string, string>>): () => void {
  stop();
  if (led === undefined) {
    led = "";
    window.addEventListener("popstate", () => (led = window.location.href));
  }
  const differing = (): string => {
    const address = sorted(choices(window.location.search));
    return window.location.href !== led || address === sorted(data) ? "" : address;
  };
  const compare = (): void => {
    if (!settled()) {
      later(); // what is told now would undo a link that has just been followed
      return;
    }
    const address = differing();
    const told = said;
    said = address;
    if (address && told !== address) window.dispatchEvent(new PopStateEvent("popstate"));
  };
  if (!differing()) said = ""; // mended: the same address may get lost again
  let timer: number | undefined;
  const later = (): void => {
    window.clearTimeout(timer);
    timer = window.setTimeout(compare, PATIENCE);
  };
  const waiting = new AbortController();
  const end = (): void => {
    window.clearTimeout(timer);
    waiting.abort();
  };
  later();
  for (const moved of MOVES) window.addEventListener(moved, later, { signal: waiting.signal, capture: true });
  stop = end;
  return end;
}

/** The visitor's choices in the query of an address. */
export function choices(query: string): Record<string, string> {
  const all = [...new URLSearchParams(query)];
  return Object.fromEntries(all.filter(([name]) => !/^embed(_options)?$/i.test(name)));
}

/** A query as text that two equal ones have in common, whatever their order. */
export function sorted(query: Record<string, string>): string {
  return JSON.stringify(Object.entries(query).sort());
}
