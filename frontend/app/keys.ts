// Keys of the whole page, and its fingers. A digit follows a link and "?" shows the sheet, both here; the others become commands.

import { keyOf } from "../core/key";
import { keep, recalled } from "../core/tab-storage";
import { Behind } from "./behind";
import { belongsToField, commandOf, Commands } from "./commands";
import "./buttons.css";
import "./keys.css";
import { beginning, type Component, found } from "./component";
import { onReturn } from "./connection";
import { leaving, left } from "./leaving";
import { present } from "./presenting";
import { settled } from "./script-state";
import { byKeys } from "./sideways";
import { passOver } from "./touch";

const CHANGING = 50; // milliseconds after which a page that changes is looked at again
const CHARACTERS = "capsviz-character-keys"; // whether the tab hears them: who speaks to a computer may not want it
const QUIET = 250; // milliseconds without another size of the window before Python hears of it

interface Data {
  readonly presenting: boolean;
  /** The page that is drawn, by its name in the address. */
  readonly page: string;
  /** The style of presenter mode. */
  readonly sheet: string;
  readonly screen: readonly [number, number] | null;
  readonly acknowledged: number;
  /** By what keys move: where the page has it, as a CSS selector. */
  readonly moved: Readonly<Record<string, string>>;
}

const commands = new Commands();
const LINKS = '[data-testid="stPageLink"] a';
/** What it saves or begins is as it was when the button was drawn. */
const BUTTONS =
  '[data-testid="stDownloadButton"] button, :is([class*="st-key-begin-"], [class*="st-key-read-"]) button';
const ASKED_FOR = ".st-key-page-link"; // the link that Python follows: what was done has been heard
const HANDS = ["pointerup", "keydown", "change"] as const;
const IDLE = ["Tab", "Shift", "Control", "Alt", "Meta"]; // keys that by themselves do nothing to a page
const behind = new Behind();
let held: number | undefined; // a link or button that waits
let released: HTMLElement | undefined; // it has waited

export default function ({ data, parentElement, setStateValue, setTriggerValue }: Component<Data>): () => void {
  const listening = beginning(parentElement);
  const { signal } = listening;
  let again: number | undefined;
  signal.addEventListener("abort", () => window.clearTimeout(again));
  const flush = (): void => {
    window.clearTimeout(again);
    const away = left();
    const batch = away ? null : commands.due(performance.now());
    if (batch) setTriggerValue("commands", batch);
    if (commands.waiting.length) again = window.setTimeout(flush, away ? CHANGING : Commands.PATIENCE);
  };
  const send = (command: string): void => {
    if (/^(page|step)/.test(command) && moves("step"))
      for (const player of window.capsvizPlayers?.all ?? []) player.halt();
    commands.add(command, Date.now());
    if (command === "present") {
      show();
      tellSize(); // before the command, whose run ends the one that this would begin
    }
    flush();
  };
  /** Whether the page has what a key moves; while it is drawn anew, it may have it soon. */
  const moves = (what: string): boolean => {
    if (what === "player") return Boolean(window.capsvizPlayers?.all.some(({ root }) => root.checkVisibility()));
    if (!Object.hasOwn(data.moved, what)) return true;
    return !settled() || document.querySelector(data.moved[what]) !== null;
  };
  const sheet = found(parentElement, "dialog", HTMLDialogElement);
  const bar = found(parentElement, ".bar", HTMLElement);
  const ordered = found(sheet, '[data-moves="pages"] dd', HTMLElement);
  const order = (ordered.dataset.order ??= ordered.textContent); // a sheet that was presented has titles there
  const characters = found(sheet, ".characters", HTMLInputElement);
  characters.checked = recalled(CHARACTERS) !== false;
  characters.addEventListener("change", () => keep(CHARACTERS, characters.checked), { signal });
  let presented = false;
  /** The page as presented or not: as Python says, and as what it has not heard of yet leaves it. */
  const show = (): void => {
    presented = data.presenting !== commands.turns("present");
    present(presented, data.sheet);
    bar.hidden = !presented;
  };
  let known = data.screen;
  const tellSize = (): void => {
    const size: [number, number] = [window.innerWidth, window.innerHeight];
    if (!presented || String(size) === String(known)) return;
    if (left()) {
      resizes();
      return;
    }
    setStateValue("screen", size);
    known = size;
  };
  const showSheet = (): void => {
    for (const row of sheet.querySelectorAll<HTMLElement>("[data-moves]"))
      row.hidden = !(row.dataset.moves ?? "")
        .split(" ")
        .every((what) => moves(what.replace("!", "")) !== what.startsWith("!"));
    // Presented, no links say which digit is whose; a digit stays with its page.
    const titles = Array.from({ length: 10 }, (_, digit) =>
      linkOf(String(digit), data.moved.pages)?.querySelector("p")?.textContent.replace(" ", "\u00a0"),
    );
    ordered.textContent = presented ? titles.filter(Boolean).join(", ") : order;
    if (sheet.open) sheet.close();
    else sheet.showModal();
  };
  if (leaving().begun(data.page)) commands.begun();
  commands.acknowledged(data.acknowledged);
  show();
  flush(); // what was pressed while the last batch was on its way
  found(bar, ".help", HTMLElement).addEventListener("click", showSheet, { signal });
  found(bar, ".leave", HTMLElement).addEventListener("click", () => send("present"), { signal });

  const press = (event: KeyboardEvent): void => {
    const key = keyOf(event);
    const bracket = event.altKey && /^[[\]]$/.test(key); // many keyboards write it with Option or AltGr
    if (event.metaKey || event.isComposing || (!bracket && (event.ctrlKey || event.altKey))) return;
    if (belongsToField(event.composedPath()[0], key, presented)) return;
    if (!characters.checked && /^[^\s?]$/.test(key)) {
      if (key === "s") event.stopImmediatePropagation(); // the players' one
      return;
    }
    const command = commandOf(key);
    if (event.repeat && /^[0-9?]$/.test(key)) return; // a key that is held
    if (key === "?") {
      showSheet();
    } else if (sheet.open || document.querySelector('[role="dialog"]')) {
      return;
    } else if (/^[0-9]$/.test(key)) {
      linkOf(key, data.moved.pages)?.click();
    } else if (command?.startsWith("T") && turns(Number(command.slice(1)))) {
      behind.act(performance.now()); // a board has gone there at once, and tells where it is left
    } else if (command && moves(command.replace(/[+-]1$/, ""))) {
      if (!event.repeat) send(command);
    } else {
      return;
    }
    event.preventDefault(); // the page neither scrolls nor moves a slider
    event.stopImmediatePropagation();
  };
  window.addEventListener("keydown", press, { signal, capture: true });
  onReturn(() => setTriggerValue("back", true), signal);
  const followed = (event: MouseEvent): void => {
    const link = linkAt(event);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link !== released && !link.closest(ASKED_FOR) && behind.waits(performance.now(), settled())) {
      event.preventDefault();
      event.stopImmediatePropagation();
      hold(link);
      return;
    }
    window.clearTimeout(held);
    if (link instanceof HTMLAnchorElement) leaving().leaves(new URL(link.href).pathname, performance.now());
  };
  // A button that a pointer chose leaves the keys to the player: they go on choosing for those who came there by keys.
  const freed = ({ detail, target }: MouseEvent): void => {
    const chosen = target instanceof Element ? target.closest<HTMLElement>("[role=radio], [role=tab]") : null;
    if (detail && moves("player")) chosen?.blur();
  };
  const returned = (event: Event): void => {
    if (event.isTrusted) window.clearTimeout(held); // not where the page only asks again
    leaving().leaves(window.location.pathname, performance.now());
  };
  const acted = (event: Event): void => {
    if (event instanceof KeyboardEvent && IDLE.includes(event.key)) return;
    if (!linkAt(event)) behind.act(performance.now(), event.type === "change" ? window.location.search : null);
  };
  for (const hand of HANDS) document.addEventListener(hand, acted, { signal, capture: true });
  passOver(signal);
  byKeys(signal);
  document.addEventListener("click", followed, { signal, capture: true });
  document.addEventListener("click", freed, { signal, capture: true });
  window.addEventListener("popstate", returned, { signal });
  window.addEventListener("capsviz:command", (event) => send((event as CustomEvent<string>).detail), { signal });
  let resized = window.setTimeout(tellSize, 0);
  const resizes = (): void => {
    window.clearTimeout(resized);
    resized = window.setTimeout(tellSize, QUIET);
  };
  window.addEventListener("resize", resizes, { signal });
  signal.addEventListener("abort", () => window.clearTimeout(resized));
  return () => {
    listening.abort();
    if (!parentElement.isConnected) present(false, data.sheet); // an error's page has neither bar nor keys
  };
}

/** The link, or such a button, at which something happens. */
function linkAt({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(`${LINKS}, ${BUTTONS}`) : null;
}

/** Those that say the same and lead to the same page. */
function alike(link: HTMLElement): HTMLElement[] {
  const page = (each: HTMLElement): string => (each instanceof HTMLAnchorElement ? each.pathname : "");
  const all = [...document.querySelectorAll<HTMLElement>(`${LINKS}, ${BUTTONS}`)];
  return all.filter((each) => each.textContent === link.textContent && page(each) === page(link));
}

/** Follow a link once what was done before it has been heard; it then carries that along. */
function hold(link: HTMLElement): void {
  window.clearTimeout(held);
  const since = performance.now();
  const place = alike(link).indexOf(link);
  const look = (): void => {
    if (behind.over(performance.now(), since, window.location.search, settled())) {
      released = link.isConnected ? link : alike(link).at(place); // it may have been drawn anew
      released?.click();
      released = undefined;
    } else {
      held = window.setTimeout(look, CHANGING);
    }
  };
  held = window.setTimeout(look, CHANGING);
}

/** The link to the page that says a digit before its name; pages: where the links are, as a CSS selector. */
function linkOf(digit: string, pages: string): HTMLElement | undefined {
  const links = [...document.querySelectorAll<HTMLElement>(`${pages} a`)];
  return links.find((link) => link.querySelector("p")?.textContent.startsWith(`${digit} `));
}

/** Whether a board of the page has taken so many iterations T more. */
function turns(by: number): boolean {
  return !window.dispatchEvent(new CustomEvent("capsviz:rounds", { detail: { by }, cancelable: true }));
}
