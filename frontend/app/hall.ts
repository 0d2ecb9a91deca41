// What the windows of a talk say to each other, in one browser: the hall's, which shows the views, and the speaker's
// notes. The server hears of it only what each window asks for itself.

/** Where the hall's window stands. */
export interface At {
  readonly kind: "at";
  readonly tour: string;
  readonly step: number;
  /** Whether it has left the view of the step, for a question. */
  readonly away: boolean;
}

/** A window of notes asks where the hall stands, or was moved by a key and asks the hall to come along. */
type Said = At | { readonly kind: "where" } | Go;

interface Go {
  readonly kind: "go";
  readonly tour: string;
  readonly step: number;
}

const NAME = "capsviz-tour";

/** What a window heard; null for what none of ours says. */
export function understood(heard: unknown): Said | null {
  if (typeof heard !== "object" || heard === null) return null;
  const { kind, tour, step, away } = heard as Record<string, unknown>;
  if (kind === "where") return { kind };
  if (typeof tour !== "string" || typeof step !== "number" || !Number.isInteger(step) || step < 1) return null;
  if (kind === "at") return { kind, tour, step, away: away === true };
  return kind === "go" ? { kind, tour, step } : null;
}

/** Listen to the other windows until the signal; what is returned speaks to them. */
export function hall(signal: AbortSignal, hear: (said: Said) => void): (said: Said) => void {
  let channel: BroadcastChannel;
  try {
    channel = new BroadcastChannel(NAME);
  } catch (error) {
    console.info(`This window is alone: ${String(error)}`); // as where a browser refuses storage
    return () => undefined;
  }
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    const said = understood(data);
    if (said) hear(said);
  });
  signal.addEventListener("abort", () => channel.close());
  return (said) => channel.postMessage(said);
}

/** The hall's window. Of several the notes follow one: the last that moved, or whose link has opened them. */
export class Hall {
  private at: At | undefined;
  private last = false;
  private say: (said: Said) => void = () => undefined;

  /** Stand somewhere until the signal; go: answers notes that were moved by a key. */
  stand(at: At, signal: AbortSignal, go: (to: Go) => void): void {
    this.say = hall(signal, (said) => {
      if (said.kind === "go") go(said);
      else if (said.kind === "at") this.last = false;
      else if (this.last) this.say(at);
    });
    const moved = JSON.stringify(at) !== JSON.stringify(this.at);
    this.at = at;
    if (moved) this.lead();
  }

  /** Have the notes follow this window. */
  lead(): void {
    this.last = true;
    if (this.at) this.say(this.at);
  }
}
