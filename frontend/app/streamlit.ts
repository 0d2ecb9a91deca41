// How a board stands on a page of the app.

import type { Mount } from "../core/board";
import { unpack } from "../core/message";
import type { Component } from "./component";
import "./streamlit.css";

/** The component that a board is: what it tells, Python hears as triggers, each value in a list: null is one as well. */
export function inStreamlit(mount: Mount): (component: Component<Uint8Array>) => () => void {
  return ({ data, parentElement, setTriggerValue }) => {
    const host = { parent: parentElement, page: document.querySelector(".stMainBlockContainer") };
    const end = mount(host, unpack(data), (what, value) => setTriggerValue(what, [value]));
    // Streamlit also ends a call that was overtaken before it was made, and makes the next one only then: the board, and
    // what has the focus on it, stays for that one. Where the component goes, its place is gone by now.
    return () => {
      if (!parentElement.isConnected) end();
    };
  };
}
