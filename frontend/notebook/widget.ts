// A board as the output of a notebook's cell (anywidget): Jupyter, marimo, and what else shows widgets.

import { boards } from "../boards";
import { StandaloneHost } from "../core/standalone-host";
import type { Theme } from "../core/colours";
import { element } from "../core/dom";
import { unpack } from "../core/message";
import { isDarkBehind, onTurn } from "./surroundings";

/** What capsviz/boards/notebook.py keeps in step with the browser. */
interface Content {
  readonly board: string;
  readonly name: string;
  readonly css: string;
  /** Packed messages that come once and before the others. */
  readonly first: readonly DataView[];
  /** What is the same for all classes, packed. */
  readonly shared: DataView;
  /** A packed message for each class; or one alone, of many classes, and those of another one when `upper` asks for it. */
  readonly messages: readonly DataView[];
  /** The colours on a light and on a dark page, where it is to be as the page is; older cells know of none. */
  readonly themes?: readonly Theme[];
  /** How many classes can be chosen. */
  readonly count: number;
  /** The class that is shown. */
  readonly upper: number;
}

interface Model {
  get<Name extends keyof Content>(name: Name): Content[Name];
  set<Name extends keyof Content>(name: Name, value: Content[Name]): void;
  on(event: string, hears: () => void): void;
  off(event: string, hears: () => void): void;
  save_changes(): void;
}

const PATIENCE = 4000; // milliseconds after which no kernel will answer

const bytes = (view: DataView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const listening = new AbortController();
  // A root of its own: what the notebook styles, and what the board does, stay apart. Some notebooks draw again into el.
  const place = element("div");
  el.append(place);
  const root = element("div");
  place.attachShadow({ mode: "open" }).append(element("style", { textContent: model.get("css") }), root);
  // Keys belong to the notebook unless the board has the focus; then the notebook leaves them to it, all but commands.
  root.dataset.ownKeys = "true";
  root.tabIndex = -1;
  const leave = (event: KeyboardEvent): void => {
    if (!event.composedPath().includes(place)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) delete place.dataset.lmSuppressShortcuts;
    else place.dataset.lmSuppressShortcuts = "true";
  };
  window.addEventListener("keydown", leave, { capture: true, signal: listening.signal });
  const together = model.get("messages").length > 1;
  let [shown, asking] = [model.get("upper"), 0];
  const say = (): void => {
    window.clearTimeout(asking);
    shown = model.get("upper");
    host.say(bytes(model.get("messages")[together ? shown : 0]));
  };
  const chosen = (): void => {
    if (together && model.get("upper") !== shown) say();
  };
  const ask = (upper: number): void => {
    model.set("upper", upper);
    model.save_changes();
    window.clearTimeout(asking);
    if (together) chosen();
    else asking = window.setTimeout(say, PATIENCE); // the board shows again which class it has
  };
  const shared = { ...unpack(bytes(model.get("shared"))), alone: model.get("count") < 2 };
  const host = new StandaloneHost(boards[model.get("board")], root, ask, model.get("name"), shared);
  const themes = model.get("themes");
  if (themes?.length) {
    host.wear(themes[Number(isDarkBehind(el))]);
    onTurn(el, (dark) => host.wear(themes[Number(dark)]), listening.signal);
  }
  for (const message of model.get("first")) host.say(bytes(message));
  say();
  model.on("change:messages", say);
  model.on("change:upper", chosen);
  return () => {
    model.off("change:messages", say);
    model.off("change:upper", chosen);
    window.clearTimeout(asking);
    listening.abort();
    host.close();
    place.remove();
  };
}

export default { render };
