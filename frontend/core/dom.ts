// Elements made and found.

import { least } from "d3-array";

type Properties<Tag extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[Tag], "style">> &
  Partial<Record<`aria-${string}` | "role" | "style" | "scope", string>>;

/** An element with properties, attributes and children. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties<Tag> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    const attribute = name.includes("-") || name === "role" || name === "style";
    if (attribute && typeof value === "string") made.setAttribute(name, value);
    else Object.assign(made, { [name]: value });
  }
  made.append(...children);
  return made;
}

/** A button that says what it does, and does it. */
export function button(label: string, title: string, act: (event: MouseEvent) => void): HTMLButtonElement {
  const made = element("button", { type: "button", textContent: label, title });
  made.addEventListener("click", act);
  return made;
}

/** Whether keys work a picture; a screen reader then leaves the arrows to it. */
export function worked(canvas: HTMLCanvasElement, byKeys = true): void {
  canvas.tabIndex = byKeys ? 0 : -1;
  canvas.setAttribute("role", byKeys ? "application" : "img");
}

/** Switch a button on or off; off it keeps the focus: a keyboard would start at the top of the page again. */
export function enable(made: HTMLButtonElement, on: boolean): void {
  made.setAttribute("aria-disabled", String(!on));
}

/** What changes too often to be said each time: its slider says it, or `aloud` does once it stands. */
export function quietOutput(className = ""): HTMLOutputElement {
  return element("output", { className, "aria-live": "off" });
}

/** Other children; the button of the focused one's title, or else the nearest to where it stood, has the focus then. */
export function replaceButtons(place: HTMLElement, ...children: readonly Node[]): void {
  const buttons = (): HTMLElement[] => [...place.querySelectorAll<HTMLElement>("button, select")];
  const focused = (place.getRootNode() as Document | ShadowRoot).activeElement;
  const before = buttons();
  const at = before.findIndex((each) => each === focused);
  place.replaceChildren(...children);
  if (at < 0) return;
  const after = buttons();
  const able = after.filter((each) => !each.matches(":disabled"));
  const there = least(able, (each) => Math.abs(after.indexOf(each) - at));
  const next = [there, ...able].find((each) => each?.title === before[at].title) ?? there;
  next?.focus({ preventScroll: true });
}

/** Act whenever the screen has other pixels: a window that is dragged to a projector keeps its size. */
export function onResolution(act: () => void, signal: AbortSignal): void {
  const now = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  const changed = (): void => {
    act();
    onResolution(act, signal);
  };
  now.addEventListener("change", changed, { once: true, signal });
}

/** Head and body of a table, by what its columns are called. */
export function tabled(heads: readonly (Node | string)[], ...rows: Node[]): [HTMLElement, HTMLElement] {
  const named = heads.map((each) =>
    typeof each === "string" ? element("th", { textContent: each, scope: "col" }) : each,
  );
  return [element("thead", {}, element("tr", {}, ...named)), element("tbody", {}, ...rows)];
}

/** An element's parent, where it is the root of a shadow the element that this belongs to. */
export function above(at: Element): Element | null {
  if (at.parentElement) return at.parentElement;
  const root = at.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/** CSS pixels from the top of the page, not scrolled, to the top of an element. */
export function topOf(place: Element): number {
  let scrolled = 0;
  for (let at: Element | null = place; at; at = above(at)) scrolled += at.scrollTop;
  return place.getBoundingClientRect().top + scrolled;
}

/** CSS pixels from the top of an element to the lower edge of the window, the page not scrolled. */
export function roomBelow(place: Element): number {
  return window.innerHeight - topOf(place);
}

/** Where on a canvas an event is, in the canvas's own CSS pixels, however much the page enlarges it. */
export function pointed(canvas: HTMLElement, event: MouseEvent): [number, number] {
  const box = canvas.getBoundingClientRect();
  const larger = box.width / canvas.offsetWidth || 1;
  return [(event.clientX - box.left) / larger, (event.clientY - box.top) / larger];
}

/** A finger on a canvas moves the page, as its style allows, unless it holds something there. */
export function heldByFinger(canvas: HTMLElement, holds: () => boolean): void {
  const moved = (event: TouchEvent): void => {
    if (holds()) event.preventDefault();
  };
  canvas.addEventListener("touchmove", moved, { passive: false });
}

/** By the place that heard it, what came down there last: WebKit calls the click of a finger that of a mouse. */
const CAME_DOWN = new WeakMap<EventTarget, string>();

/** Of several fingers the first one alone is heard: another would take over what it holds. */
export function ofOneFinger(place: HTMLElement): void {
  const heard = (event: PointerEvent): void => {
    if (!event.isPrimary) event.stopImmediatePropagation();
    else if (event.type === "pointerdown") CAME_DOWN.set(place, event.pointerType);
  };
  for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"] as const) {
    place.addEventListener(name, heard, { capture: true });
  }
}

/** Whether an event is of a finger, at a place that hears one finger. */
export function ofFinger(event: MouseEvent): boolean {
  if (event instanceof PointerEvent && event.type !== "click") return event.pointerType === "touch";
  return event.currentTarget !== null && CAME_DOWN.get(event.currentTarget) === "touch";
}

/** Whether an event is of a finger that came down and left at one place. */
export function isTap(event: MouseEvent): boolean {
  return event.type === "click" && ofFinger(event);
}

/** By the key of an arrow, the way that it points. */
export const ARROWS: Readonly<Record<string, readonly [right: number, up: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** The way that the key of an arrow points, pressed alone: page and player do not get it then; null for another key. */
export function takenArrow(event: KeyboardEvent): readonly [right: number, up: number] | null {
  const held = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
  if (held || !Object.hasOwn(ARROWS, event.key)) return null;
  event.preventDefault();
  event.stopPropagation();
  return ARROWS[event.key];
}

/** Where an arrow's key moves a point of a plane: by one of its last decimal, ten with shift, within the plane's reach. */
export function stepped(
  [x, y]: readonly [number, number, ...unknown[]],
  { key, shiftKey }: KeyboardEvent,
  { decimals, reach }: { readonly decimals: number; readonly reach: number },
): [number, number] {
  const step = (shiftKey ? 10 : 1) * 10 ** -decimals;
  const to = (value: number, way: number): number =>
    Number(Math.max(-reach, Math.min(reach, value + way * step)).toFixed(decimals)) || 0;
  return [to(x, ARROWS[key][0]), to(y, ARROWS[key][1])];
}

/** Scroll a list, and nothing else, to one of its entries, where that is out of sight; once both have their places. */
export function reveal(list: HTMLElement, entry: HTMLElement): void {
  requestAnimationFrame(() => {
    const [around, own] = [list.getBoundingClientRect(), entry.getBoundingClientRect()];
    if (own.top >= around.top && own.bottom <= around.bottom) return;
    list.scrollTop += own.top - around.top - (list.clientHeight - entry.clientHeight) / 2;
  });
}
