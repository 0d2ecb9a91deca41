// A value that the visitor changes in the browser and that the host may set as well.

/** What was said to the host about a value, and what it said: an echo is no news, the hand may have moved on since. */
export class SharedValue {
  private pending: string[] = []; // what was sent and has not come back yet
  private said: string | undefined;
  private count: number | undefined;

  /** Whether something was sent that has not come back yet. */
  get waits(): boolean {
    return this.pending.length > 0;
  }

  /** Take nothing for known that the host said. */
  forget(): void {
    this.said = undefined;
  }

  /** Whether a value is what was said last, by either side. */
  isKnown(value: unknown): boolean {
    return JSON.stringify(value) === (this.pending.at(-1) ?? this.said);
  }

  /** Whether a value is to be sent; it is then waited for. */
  sends(value: unknown): boolean {
    if (this.isKnown(value)) return false;
    this.pending.push(JSON.stringify(value));
    return true;
  }

  /**
   * Whether what the host says is to be taken over; under a busy hand, what it said before is not. count: how often the
   * host has heard of the value by now: what it acknowledged and does not say has been undone. A host by itself counts nothing.
   */
  takes(value: unknown, count = 0, busy = false): boolean {
    const text = JSON.stringify(value);
    const echo = this.pending.indexOf(text);
    const again = text === this.said;
    const since = count - (this.count ?? count);
    [this.said, this.count] = [text, count];
    // Said twice, and nothing heard in between: the echo of what was sent first, not of the same value sent once more.
    if (again && !since && this.pending.length) return false;
    if (echo >= 0) this.pending.splice(0, echo + 1);
    else this.pending.splice(0, again ? since : this.pending.length);
    return echo < 0 && !(again && (busy || this.pending.length > 0));
  }
}
