// How a board stands on a page of the app.

import type { Belongs, Mount } from "../core/board";
import { unpack } from "../core/message";
import type { Component } from "./component";
import { tellSurely } from "./connection";
import { completed } from "./kept";
import { left } from "./leaving";
import "./streamlit.css";

/**
 * The component that a board is: what it tells, Python hears as triggers, each value in a list: null is one as well. Behind
 * it stands the view that it belongs to, where the board heard of one.
 */
export function inStreamlit(mount: Mount): (component: Component<Uint8Array>) => () => void {
  return ({ data, parentElement, setTriggerValue }) => {
    const host = { parent: parentElement, page: document.querySelector(".stMainBlockContainer") };
    const message = completed(parentElement, unpack(data));
    if (!message) {
      tellSurely(parentElement, "missed", () => setTriggerValue("missed", [null])); // all of it comes then
      return () => undefined;
    }
    const end = mount(host, message, (what, value) => {
      if (left()) return; // whoever waits for another page has done with this one
      const of = (message.of as Belongs)?.[what];
      tellSurely(parentElement, what, () => setTriggerValue(what, of === undefined ? [value] : [value, of]));
    });
    if (typeof message.drawn === "string") tellDrawn(message.drawn);
    // Streamlit also ends a call that was overtaken before it was made, and makes the next one only then: the board, and
    // what has the focus on it, stays for that one. Where the component goes, its place is gone by now.
    return () => {
      if (!parentElement.isConnected) end();
    };
  };
}

/** Tell the server, once what has been drawn is on screen: what it sends next would have been drawn before. */
function tellDrawn(address: string): void {
  const tell = (): void => {
    fetch(address, { method: "POST" }).catch(() => undefined); // it waits for a moment only
  };
  if (document.hidden) tell();
  else requestAnimationFrame(() => setTimeout(tell, 0));
}
