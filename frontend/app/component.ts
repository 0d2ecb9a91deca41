// What Streamlit gives a component each time that it calls it: at the mount, and whenever data or theme change.

export interface Component<Data> {
  readonly data: Data;
  readonly parentElement: HTMLElement | ShadowRoot;
  /** Python hears a value in one run of the script. */
  readonly setTriggerValue: (name: string, value: unknown) => void;
  /** Python hears a value in every run from now on. */
  readonly setStateValue: (name: string, value: unknown) => void;
}

/** An element of a kind that the component's HTML is known to have. */
export function found<Kind extends Element>(parent: ParentNode, selector: string, kind: new () => Kind): Kind {
  const element = parent.querySelector(selector);
  if (!(element instanceof kind)) throw new Error(`The component's HTML has no ${kind.name} at ${selector}.`);
  return element;
}

const mounted = new WeakMap<Node, AbortController>(); // by the element that Streamlit mounts a component in

/** Begin a call of a component; gives what ends it. Streamlit calls again at every change: the last call ends first. */
export function beginning(parent: Node): AbortController {
  mounted.get(parent)?.abort();
  const listening = new AbortController();
  mounted.set(parent, listening);
  return listening;
}
