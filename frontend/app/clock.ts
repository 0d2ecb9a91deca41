// How long a talk has gone on: a clock that starts, stops and goes back, and outlasts a reload of its window.

export class Clock {
  /** passed: milliseconds until it was last started. since: when that was; null while it stands. */
  constructor(
    private passed = 0,
    private since: number | null = null,
  ) {}

  /** The clock that `kept` wrote down; a new one for anything else. */
  static from(kept: unknown): Clock {
    const [, passed, since] = /^(\d+),(\d*)$/.exec(typeof kept === "string" ? kept : "") ?? ["", "0", ""];
    return new Clock(Number(passed), since ? Number(since) : null);
  }

  get kept(): string {
    return `${this.passed},${this.since ?? ""}`;
  }

  get running(): boolean {
    return this.since !== null;
  }

  elapsed(now: number): number {
    return this.passed + (this.since === null ? 0 : Math.max(0, now - this.since));
  }

  toggle(now: number): void {
    this.passed = this.elapsed(now);
    this.since = this.running ? null : now;
  }

  reset(): void {
    [this.passed, this.since] = [0, null];
  }
}

/** Minutes and seconds, with hours where there are any. */
export function told(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (number: number): string => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
