// The live decoder on a page of the app, which tells where weights lie: the browser fetches them once and keeps them.

import type { Host, Mount, Tell } from "../core/board";
import { unpack } from "../core/message";
import { mountDecoder, touch } from "../decoder/board";
import { inStreamlit } from "./streamlit";

const AGAIN = 1500; // milliseconds until what could not be fetched is asked for again
const TRIES = 2; // after which the server is to send it with its messages: some address leads elsewhere

interface Wanted {
  readonly address: string;
  readonly host: Host;
  readonly tell: Tell;
}

const wanted = new Map<string, Wanted>(); // by digest, for the board that asked last
const coming = new Set<string>(); // digests

async function fetchPack(digest: string, tries = 1): Promise<void> {
  if (coming.has(digest)) return;
  coming.add(digest);
  let failed = false;
  try {
    const answer = await fetch(wanted.get(digest)?.address ?? "");
    if (!answer.ok) throw new Error(String(answer.status));
    const packed = unpack(new Uint8Array(await answer.arrayBuffer()));
    const asked = wanted.get(digest);
    if (asked) mountDecoder(asked.host, packed, asked.tell);
  } catch (error) {
    console.info(`A decoder did not come: ${String(error)}`);
    failed = true;
  }
  coming.delete(digest);
  const still = wanted.get(digest);
  if (!failed || !still?.host.parent.isConnected) return;
  if (tries < TRIES) setTimeout(() => void fetchPack(digest, tries + 1), AGAIN);
  else still.tell("lost", digest);
}

const mount: Mount = (host, message, tell) => {
  const { packs } = message as { readonly packs?: Readonly<Record<string, string>> };
  const end = mountDecoder(host, message, tell);
  const missing = Object.entries(packs ?? {}).filter(([digest]) => !touch(digest)); // all are younger than what follows
  for (const [digest, address] of missing) {
    wanted.set(digest, { address, host, tell });
    void fetchPack(digest);
  }
  return end;
};

export default inStreamlit(mount);
