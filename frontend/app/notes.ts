// The clock of the speaker's notes, and what keeps them at the step that the hall's window shows.

import { keep, recalled } from "../core/tab-storage";
import { Clock, told } from "./clock";
import { beginning, type Component, found } from "./component";
import { hall } from "./hall";
import "./buttons.css";
import "./notes.css";

interface Data {
  readonly tour: string;
  readonly step: number;
  /** How often keys moved these notes: the hall comes along. */
  readonly moved: number;
}

const KEPT = "capsviz-clock";
let moved: number | undefined;
let clockOfWindow: Clock | undefined; // which outlasts a step also where the tab keeps nothing

export default function ({ data, parentElement, setTriggerValue }: Component<Data>): () => void {
  const listening = beginning(parentElement);
  const { signal } = listening;
  const { tour, step } = data;
  const away = found(parentElement, ".away", HTMLElement);
  const say = hall(signal, (said) => {
    if (said.kind !== "at") return;
    away.textContent = said.away ? "The hall sees another view: b leads back to this step." : "";
    if (said.tour !== tour || said.step !== step) setTriggerValue("at", [said.tour, said.step]);
  });
  // A new session counts from 0: no key has moved it.
  if (moved !== undefined && data.moved > moved) say({ kind: "go", tour, step });
  else say({ kind: "where" });
  moved = data.moved;
  clock(parentElement, signal);
  return () => listening.abort();
}

function clock(place: ParentNode, signal: AbortSignal): void {
  const kept = (clockOfWindow ??= Clock.from(recalled(KEPT)));
  const face = found(place, "time", HTMLElement),
    toggle = found(place, ".toggle", HTMLElement);
  const show = (): void => {
    const time = told(kept.elapsed(Date.now()));
    if (face.textContent !== time) face.textContent = time;
    toggle.textContent = kept.running ? "Stop" : "Start";
  };
  const act = (made: HTMLElement, change: () => void): void => {
    const clicked = (): void => {
      change();
      keep(KEPT, kept.kept);
      show();
    };
    made.addEventListener("click", clicked, { signal });
  };
  act(toggle, () => kept.toggle(Date.now()));
  act(found(place, ".reset", HTMLElement), () => kept.reset());
  const ticking = window.setInterval(show, 200);
  signal.addEventListener("abort", () => window.clearInterval(ticking));
  show();
}
