// The drawing pad on a page of the app.

import { type Drawing, Pad } from "../pad/pad";
import "./buttons.css";
import "../pad/pad.css";
import { type Component, found } from "./component";
import { tellSurely } from "./connection";
import { left } from "./leaving";

interface Data {
  readonly pad: string;
  readonly version: number | null;
}

interface Place {
  readonly pad: Pad;
  latestCall: object;
}

const places = new WeakMap<Node, Place>(); // by the element that Streamlit mounts the component in

// Streamlit calls this at the mount and again whenever data or theme changes, but the clean-up only at the end; and
// the clean-up of a call that came too late may run after the next call. So only the latest call's clean-up counts.
export default function ({ data, parentElement, setStateValue }: Component<Data>): () => void {
  const root = found(parentElement, ".pad", HTMLElement);
  const tell = (drawing: Drawing): void => {
    if (!left()) tellSurely(parentElement, "drawing", () => setStateValue("drawing", drawing));
  };
  let place = places.get(parentElement);
  if (place?.pad.root !== root) {
    place?.pad.close();
    const parts = {
      root,
      canvas: found(root, "canvas", HTMLCanvasElement),
      undo: found(root, ".undo", HTMLButtonElement),
      clear: found(root, ".clear", HTMLButtonElement),
      slider: found(root, "input", HTMLInputElement),
      hint: found(root, ".hint", HTMLElement),
      nib: found(root, ".nib span", HTMLElement),
    };
    place = { pad: new Pad(parts, data.pad, data.version, tell), latestCall: {} };
    places.set(parentElement, place);
  }
  const { pad } = place;
  pad.tell = tell;
  const call = (place.latestCall = {});
  return () => {
    const last = places.get(parentElement);
    if (last?.pad !== pad || last.latestCall !== call) return;
    pad.close();
    places.delete(parentElement);
  };
}
