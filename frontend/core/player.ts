// Where among its frames something stands, and how it moves there: 0 is the first frame, 1 the second, and between them
// the picture glides.

/** Slow at first and at the end, 0 to 1; and what becomes a value so. */
const smoothed = (way: number): number => way * way * (3 - 2 * way);
const unsmoothed = (value: number): number => (value > 0 ? 0.5 - Math.sin(Math.asin(1 - 2 * value) / 3) : 0);

/** How many times longer everything takes in slow motion. */
const SLOWER = 3;

export class Player {
  position = 0;
  slow = false;
  private from = 0;
  private way = 0; // from a frame to the next, 0 to 1
  private held = 0; // milliseconds that the frame has stood

  /** hold, glide: milliseconds that a frame stands, and that the way to the next one takes. */
  constructor(
    public count: number,
    public hold: number,
    public glide: number,
  ) {}

  /** The frame that is nearest. */
  get index(): number {
    return Math.round(this.position);
  }

  get last(): number {
    return this.count - 1;
  }

  /** How far among the frames, 0 to 1. */
  get share(): number {
    return this.last > 0 ? this.position / this.last : 0;
  }

  set share(share: number) {
    this.place(share * this.last);
  }

  place(position: number): void {
    this.position = Math.max(0, Math.min(this.last, position));
  }

  /** Another number of frames, the same place among them. */
  resize(count: number): void {
    if (count === this.count) return;
    const { share } = this;
    this.count = count;
    this.share = share;
    this.goOn();
  }

  /** The frame that a step back (−1) or on (+1) leads to: between two frames, the next one on that side. */
  stepped(by: number): number {
    return by + (by > 0 ? Math.floor(this.position + 1e-6) : Math.ceil(this.position - 1e-6));
  }

  /** Begin to play, from the start where it stands at the end. */
  start(): void {
    if (this.position >= this.last) this.position = 0;
    this.goOn();
  }

  /** Play from where it stands. */
  private goOn(): void {
    this.from = Math.floor(this.position);
    this.way = unsmoothed(this.position - this.from);
    this.held = 0;
  }

  /** Play on for so many milliseconds; jumping: from frame to frame without gliding. Whether the position changed. */
  advance(milliseconds: number, jumping = false): boolean {
    const passed = milliseconds / (this.slow ? SLOWER : 1);
    this.held += passed;
    if (this.way === 0 && this.held < this.hold) return false;
    this.way = jumping ? 1 : Math.min(1, this.way + passed / this.glide);
    this.place(this.from + smoothed(this.way));
    if (this.way >= 1) [this.from, this.way, this.held] = [this.from + 1, 0, 0];
    return true;
  }

  /** Stand for so many milliseconds more; how long it has stood by now. */
  stands(milliseconds: number): number {
    return (this.held += milliseconds);
  }

  /** Whether playing has come to the last frame. */
  get ended(): boolean {
    return this.from >= this.last;
  }
}
