// A board as the output of a notebook's cell (anywidget): Jupyter, marimo, and what else shows widgets.

import { boards } from "../boards";
import { StandaloneHost } from "../core/standalone-host";
import { element } from "../core/dom";

/** What capsviz/boards/notebook.py keeps in step with the browser. */
interface Content {
  readonly board: string;
  readonly name: string;
  readonly css: string;
  /** Packed messages: those that come once and before the others, and the board's. */
  readonly first: readonly DataView[];
  readonly message: DataView;
  /** The class whose numbers the message has; set by the browser, it asks for those of another one. */
  readonly upper: number;
}

interface Model {
  get<Name extends keyof Content>(name: Name): Content[Name];
  set<Name extends keyof Content>(name: Name, value: Content[Name]): void;
  on(event: string, hears: () => void): void;
  off(event: string, hears: () => void): void;
  save_changes(): void;
}

const bytes = (view: DataView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  // A root of its own: what the notebook styles, and what the board does, stay apart.
  const shadow = el.attachShadow({ mode: "open" });
  const root = element("div");
  shadow.append(element("style", { textContent: model.get("css") }), root);
  // Keys belong to the notebook unless the board has the focus; then the notebook leaves them to it.
  el.dataset.lmSuppressShortcuts = "true";
  root.dataset.ownKeys = "true";
  root.tabIndex = -1;
  const ask = (upper: number): void => {
    model.set("upper", upper);
    model.save_changes();
  };
  const host = new StandaloneHost(boards[model.get("board")], root, ask, model.get("name"));
  for (const message of model.get("first")) host.say(bytes(message));
  const say = (): void => host.say(bytes(model.get("message")));
  say();
  model.on("change:message", say);
  return () => {
    model.off("change:message", say);
    host.close();
  };
}

export default { render };
