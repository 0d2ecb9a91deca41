// What is told while the server cannot hear: Streamlit forgets it, so it is told again once the connection is back.

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

function again(): void {
  if (!connected()) return;
  watcher?.disconnect();
  watcher = undefined;
  const all = [...unheard];
  unheard.clear();
  for (const [component, told] of all) if (component.isConnected) for (const tell of told.values()) tell();
}
