/** What was said to Python about one thing, and what it said: an echo is no news, the hand may have moved on since. */
class Told {
  constructor() {
    this.pending = []; // what was sent and has not come back yet
  }

  /** Whether a value is to be sent; it is then waited for. */
  worth(value) {
    const text = JSON.stringify(value);
    if (text === (this.pending.at(-1) ?? this.heard)) return false;
    this.pending.push(text);
    return true;
  }

  /** Whether what Python says is to be taken over; under a busy hand, what it said before is not. */
  news(value, busy = false) {
    const text = JSON.stringify(value), echo = this.pending.indexOf(text), again = text === this.heard;
    this.heard = text;
    if (echo >= 0) this.pending.splice(0, echo + 1);
    else if (!again) this.pending = [];
    return echo < 0 && !(again && (busy || this.pending.length));
  }
}
