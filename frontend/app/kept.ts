// Arrays that a message shares with the one before are not sent again: the browser has them (app/components/hosting.py).

type Message = Record<string, unknown>;
type Arrays = ReadonlyMap<string, unknown>;

const MOST = 12; // messages whose arrays are at hand, of all boards of a kind; most of them share theirs
let held: readonly Arrays[] = []; // of the last messages, by their digests, the youngest last

/**
 * The message with the arrays that it does not bring; null where one of them is not at hand. Its field `kept` names them,
 * `version` has the digests of all its arrays. An element that is another one by now finds them as well.
 */
export function completed({ kept, version, ...message }: Message): Message | null {
  for (const name of (kept ?? []) as readonly string[]) {
    const digest = (version as Readonly<Record<string, string>>)[name];
    const found = held.find((each) => each.has(digest));
    if (!found) return null;
    message[name] = found.get(digest);
  }
  const own = Object.entries((version ?? {}) as Readonly<Record<string, string>>);
  if (own.length) held = [...held, new Map(own.map(([name, digest]) => [digest, message[name]]))].slice(-MOST);
  return message;
}
