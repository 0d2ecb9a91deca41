// What waits until a hand rests.

/** Does something once nothing has moved for a moment. */
export class Later {
  private timer: number | undefined;

  /** milliseconds: without another move, after which the place counts as chosen. */
  constructor(
    private readonly act: () => void,
    private readonly milliseconds = 300,
  ) {}

  /** Whether something has just moved. */
  get waiting(): boolean {
    return this.timer !== undefined;
  }

  soon(): void {
    this.stop();
    this.timer = window.setTimeout(() => this.now(), this.milliseconds);
  }

  now(): void {
    this.stop();
    this.act();
  }

  stop(): void {
    window.clearTimeout(this.timer);
    this.timer = undefined;
  }
}
