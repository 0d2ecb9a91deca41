/** What was said to Python about one thing, and what it said: an echo is no news, the hand may have moved on since. */
class Told {
  constructor() {
    this.pending = []; // what was sent and has not come back yet
  }

  /** Whether a value is what was said last, by either side. */
  last(value) {
    return JSON.stringify(value) === (this.pending.at(-1) ?? this.heard);
  }

  /** Whether a value is to be sent; it is then waited for. */
  worth(value) {
    if (this.last(value)) return false;
    this.pending.push(JSON.stringify(value));
    return true;
  }

  /**
   * Whether what Python says is to be taken over; under a busy hand, what it said before is not. count: how often Python
   * has heard of it by now: what it heard and does not say has been undone.
   */
  news(value, count, busy = false) {
    const text = JSON.stringify(value), echo = this.pending.indexOf(text), again = text === this.heard;
    const since = count - (this.count ?? count);
    [this.heard, this.count] = [text, count];
    if (echo >= 0) this.pending.splice(0, echo + 1);
    else this.pending.splice(0, again ? since : this.pending.length);
    return echo < 0 && !(again && (busy || this.pending.length));
  }
}
