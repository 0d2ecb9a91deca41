// Arrays that a message shares with the one before are not sent again: the browser has them (app/components/hosting.py).

type Message = Record<string, unknown>;
type Digests = Readonly<Record<string, string>>;

interface Held {
  readonly version: Digests;
  readonly message: Message;
}

const held = new WeakMap<Node, Held>(); // by the element that a component stands in

/**
 * The message with the arrays that it does not bring; null where one that it builds on never came here. Its field `kept`
 * names them, `version` has the digests of all its arrays.
 */
export function completed(component: Node, { kept, version, ...message }: Message): Message | null {
  const before = held.get(component) ?? { version: {}, message: {} };
  for (const name of (kept ?? []) as readonly string[]) {
    if (before.version[name] !== (version as Digests)[name]) return null;
    message[name] = before.message[name];
  }
  if (version !== undefined) held.set(component, { version: version as Digests, message });
  return message;
}
