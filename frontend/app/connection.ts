// What is told while the server cannot hear: Streamlit forgets it, so it is told again once the connection is back.

import { settled } from "./script-state";

const STATE = "data-test-connection-state";
const ROOM = 1500; // milliseconds in which a connection that is back says who it is, and its session begins to run

const unheard = new Map<Node, Map<string, () => void>>(); // by the component, and by what it tells
let returned = -Infinity; // when the connection was back last
const place = document.querySelector(`[${STATE}]`);
if (place) {
  new MutationObserver(() => {
    if (!connected()) return;
    returned = performance.now();
    setTimeout(again, ROOM);
  }).observe(place, { attributeFilter: [STATE] });
}

function connected(): boolean {
  return (document.querySelector(`[${STATE}]`)?.getAttribute(STATE) ?? "CONNECTED") === "CONNECTED";
}

/** Tell something; while there is no connection, or only just again, the last of its name is told again later. */
export function tellSurely(component: Node, what: string, tell: () => void): void {
  unheard.get(component)?.delete(what); // an older one
  tell();
  if (connected() && performance.now() - returned > ROOM) return;
  unheard.set(component, (unheard.get(component) ?? new Map<string, () => void>()).set(what, tell));
}

/** Once the connection is back, have the page run: its session may be a new one, which knows none of what is drawn. */
export function onReturn(run: () => void, signal: AbortSignal): void {
  const app = document.querySelector(`[${STATE}]`);
  if (!app) return;
  let lost = !connected();
  const watching = new MutationObserver(() => {
    if (lost && connected()) run();
    lost = !connected();
  });
  watching.observe(app, { attributeFilter: [STATE] });
  signal.addEventListener("abort", () => watching.disconnect());
}

function again(): void {
  if (!connected()) return; // once it is back, this comes again
  if (!settled()) return void setTimeout(again, ROOM); // a new session hears of nothing that it has not drawn
  const all = [...unheard];
  unheard.clear();
  for (const [component, told] of all) if (component.isConnected) for (const tell of told.values()) tell();
}
