// What is told while the server cannot hear, which Streamlit forgets: it is told once the connection is back.

import { left } from "./leaving";
import { settled } from "./script-state";

const STATE = "data-test-connection-state";
const ROOM = 1500; // milliseconds in which a connection that is back says who it is, and its session begins to run

const LOOK = 250; // milliseconds after which it is looked again whether it runs still

const unheard = new Map<Node, Map<string, () => void>>(); // by the component, and by what it tells
let waiting: number | undefined; // until the session of a connection that is back has drawn the page
const returning = new Set<() => void>(); // what is done once the connection is back
const place = document.querySelector(`[${STATE}]`);
let lost = !connected();
if (place) {
  new MutationObserver(() => {
    window.clearTimeout(waiting);
    waiting = connected() ? window.setTimeout(tellAll, ROOM) : undefined;
    if (lost && connected()) for (const run of returning) run();
    lost = !connected();
  }).observe(place, { attributeFilter: [STATE] });
}

function connected(): boolean {
  return (document.querySelector(`[${STATE}]`)?.getAttribute(STATE) ?? "CONNECTED") === "CONNECTED";
}

/** Tell something once: where there is no connection, or only just again, the last of its name is told when it is heard. */
export function tellSurely(component: Node, what: string, tell: () => void): void {
  unheard.get(component)?.delete(what); // an older one
  if (connected() && waiting === undefined) tell();
  else unheard.set(component, (unheard.get(component) ?? new Map<string, () => void>()).set(what, tell));
}

/** Once the connection is back, have the page run: its session may be a new one, which knows none of what is drawn. */
export function onReturn(run: () => void, signal: AbortSignal): void {
  returning.add(run);
  signal.addEventListener("abort", () => returning.delete(run));
}

function tellAll(): void {
  if (left() || !settled()) {
    waiting = window.setTimeout(tellAll, LOOK); // a new session hears of nothing that it has not drawn
    return;
  }
  waiting = undefined;
  const all = [...unheard];
  unheard.clear();
  for (const [component, told] of all) if (component.isConnected) for (const tell of told.values()) tell();
}
