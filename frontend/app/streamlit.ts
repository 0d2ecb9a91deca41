// How a board stands on a page of the app.

import type { Belongs, Mount } from "../core/board";
import { unpack } from "../core/message";
import type { Component } from "./component";
import { tellSurely } from "./connection";
import { completed } from "./kept";
import { left } from "./leaving";
import "./streamlit.css";

const LEAVING = 250; // milliseconds until it is known whether another page has come
const ends = new WeakMap<Node, () => void>(); // by the element that a component stands in: what takes its board down

/**
 * The component that a board is: what it tells, Python hears as triggers, each value in a list: null is one as well. Behind
 * it stands the view that it belongs to, where the board heard of one.
 */
export function inStreamlit(mount: Mount): (component: Component<Uint8Array>) => () => void {
  return ({ data, parentElement, setTriggerValue }) => {
    const host = { parent: parentElement, page: document.querySelector(".stMainBlockContainer") };
    // Streamlit also ends a call that was overtaken before it was made, and makes the next one only then: the board, and
    // what has the focus on it, stays for that one. Where the component goes, its place is gone by now.
    const close = (): void => {
      if (!parentElement.isConnected) ends.get(parentElement)?.();
    };
    const message = completed(unpack(data));
    if (!message) {
      ask(parentElement, () => setTriggerValue("missed", [null]));
      return close;
    }
    const end = mount(host, message, (what, value) => {
      if (left()) return; // whoever waits for another page has done with this one
      const of = (message.of as Belongs)?.[what];
      tellSurely(parentElement, what, () => setTriggerValue(what, of === undefined ? [value] : [value, of]));
    });
    ends.set(parentElement, end);
    if (typeof message.drawn === "string") tellDrawn(message.drawn);
    return close;
  };
}

/** Have all of a message sent that builds on one which never came; whoever waits for another page asks on that one. */
function ask(component: Node, tell: () => void): void {
  if (!component.isConnected) return;
  if (left()) setTimeout(() => ask(component, tell), LEAVING);
  else tellSurely(component, "missed", tell);
}

/** Tell the server, once what has been drawn is on screen: what it sends next would have been drawn before. */
function tellDrawn(address: string): void {
  const tell = (): void => {
    fetch(address, { method: "POST" }).catch(() => undefined); // it waits for a moment only
  };
  if (document.hidden) tell();
  else requestAnimationFrame(() => setTimeout(tell, 0));
}
