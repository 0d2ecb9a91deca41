// The live decoder on a page of the app, which tells where weights lie: the browser fetches them once and keeps them.

import type { Mount } from "../core/board";
import { unpack } from "../core/message";
import { has, mountDecoder } from "../decoder/board";
import { inStreamlit } from "./streamlit";

const AGAIN = 3000; // milliseconds until what could not be fetched is asked for again

const coming = new Set<string>(); // digests

const mount: Mount = (host, message, tell) => {
  const fetchPack = async (digest: string, address: string): Promise<void> => {
    if (has(digest) || coming.has(digest)) return;
    coming.add(digest);
    try {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
      mountDecoder(host, unpack(new Uint8Array(await answer.arrayBuffer())), tell);
    } catch (error) {
      console.info(`A decoder has not come yet: ${String(error)}`);
      setTimeout(() => void (host.parent.isConnected && fetchPack(digest, address)), AGAIN);
    } finally {
      coming.delete(digest);
    }
  };
  const { packs } = message as { readonly packs?: Readonly<Record<string, string>> };
  for (const [digest, address] of Object.entries(packs ?? {})) void fetchPack(digest, address);
  return mountDecoder(host, message, tell);
};

export default inStreamlit(mount);
