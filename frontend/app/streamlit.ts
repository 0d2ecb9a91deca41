// How a board stands on a page of the app.

import type { Mount } from "../core/board";
import { unpack } from "../core/message";
import type { Component } from "./component";
import "./streamlit.css";

/** The component that a board is: what it tells, Python hears as triggers, each value in a list: null is one as well. */
export function inStreamlit(mount: Mount): (component: Component<Uint8Array>) => () => void {
  return ({ data, parentElement, setTriggerValue }) => {
    const host = { parent: parentElement, page: document.querySelector(".stMainBlockContainer") };
    return mount(host, unpack(data), (what, value) => setTriggerValue(what, [value]));
  };
}
