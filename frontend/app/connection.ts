// What is told while the server cannot hear: Streamlit forgets it, so it is told again once the connection is back.

import { settled } from "./script-state";

const STATE = "data-test-connection-state";
const ROOM = 400; // milliseconds in which a connection that is back says who it is

const unheard = new Map<Node, Map<string, () => void>>(); // by the component, and by what it tells
let watcher: MutationObserver | undefined;

function connected(): boolean {
  return (document.querySelector(`[${STATE}]`)?.getAttribute(STATE) ?? "CONNECTED") === "CONNECTED";
}

/** Tell something; while there is no connection, the last of its name is told again when there is one. */
export function tellSurely(component: Node, what: string, tell: () => void): void {
  unheard.get(component)?.delete(what); // an older one
  tell();
  if (connected()) return;
  unheard.set(component, (unheard.get(component) ?? new Map<string, () => void>()).set(what, tell));
  const app = document.querySelector(`[${STATE}]`);
  if (watcher || !app) return;
  watcher = new MutationObserver(() => {
    if (connected()) setTimeout(again, ROOM);
  });
  watcher.observe(app, { attributeFilter: [STATE] });
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
  if (!connected()) return;
  if (!settled()) return void setTimeout(again, ROOM); // a new session hears of nothing that it has not drawn
  watcher?.disconnect();
  watcher = undefined;
  const all = [...unheard];
  unheard.clear();
  for (const [component, told] of all) if (component.isConnected) for (const tell of told.values()) tell();
}
