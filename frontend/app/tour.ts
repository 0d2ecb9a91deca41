// A step of a tour on the page: what leads on and back, and what happens on arrival: the panel that the step is about
// comes up to the step's words, and its player starts. The speaker's notes, in another window, hear where it is.

import { button, element, replaceButtons } from "../core/dom";
import { arrive, type Arrival, keepUp } from "./arrival";
import { beginning, type Component, found } from "./component";
import { Hall } from "./hall";
import "./buttons.css";
import "./tour.css";

interface Data extends Arrival {
  readonly steps: number;
  readonly away: boolean;
  /** The notes on this step, as a link. */
  readonly notes: string;
}

const here = new Hall();

export default function ({ data, parentElement }: Component<Data>): () => void {
  const listening = beginning(parentElement);
  const { signal } = listening;
  const { tour, step, steps, away } = data;
  here.stand({ kind: "at", tour, step, away }, signal, (to) => {
    if (to.tour === tour && (to.step !== step || away)) command(`step=${to.step}`);
  });

  const previous = button("◀", "Previous step (Page Up)", () => command("page-1"));
  const next = button("▶", "Next step (Page Down)", () => command("page+1"));
  for (const each of [previous, next]) each.ariaLabel = each.title;
  [previous.disabled, next.disabled] = [step === 1, step === steps];
  const back = button("Back", "Back to the step (b)", () => command("step"));
  back.className = "back";
  replaceButtons(
    found(parentElement, "nav", HTMLElement),
    ...(away ? [back] : []),
    previous,
    element("span", { textContent: `${step} / ${steps}`, role: "img", "aria-label": `Step ${step} of ${steps}` }),
    next,
    element("a", {
      href: data.notes,
      target: "capsviz-notes",
      textContent: "Notes",
      title: "The speaker's notes, in a window of their own",
      onclick: () => here.lead(),
    }),
    button("End", "End the tour and stay here", () => command("end")),
  );
  arrive(data, signal);
  if (!away) keepUp(data.panel, signal);
  return () => listening.abort();
}

/** Have the page's keys send a command, in its turn. */
function command(detail: string): void {
  window.dispatchEvent(new CustomEvent("capsviz:command", { detail }));
}
