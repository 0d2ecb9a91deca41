// A board in a page of its own: what it shows lies in the page, packed, one message for each class that can be chosen.

import { boards } from "../boards";
import { element } from "../core/dom";
import { unpack } from "../core/message";
import { StandaloneHost } from "../core/standalone-host";
import "./page.css";

interface Content {
  readonly board: string;
  /** What its pictures are called as files. */
  readonly name: string;
  readonly title: string;
  /** The class that is shown first. */
  readonly upper: number;
  /** Packed messages in base 64: those that come once and before the others, then one for each class, or one alone. */
  readonly first: readonly string[];
  /** What is the same in all of these, packed. */
  readonly shared: string;
  readonly messages: readonly string[];
}

const content = JSON.parse(document.getElementById("content")?.textContent ?? "") as Content;
const root = document.getElementById("board");
if (!root) throw new Error("The page has no place for its board.");
const bytes = (text: string): Uint8Array => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const say = (upper: number): void => host.say(bytes(content.messages[Math.min(upper, content.messages.length - 1)]));
const shared = { ...unpack(bytes(content.shared)), alone: content.messages.length < 2 };
const host = new StandaloneHost(boards[content.board], root, say, content.name, shared);
root.prepend(element("h1", { textContent: content.title }));
for (const message of content.first) host.say(bytes(message));
say(content.upper);
