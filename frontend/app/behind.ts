// A link to another page that is followed right behind something else waits until that has been heard: what a field that
// loses its focus, the pad or a player tells shortly after names the page before, and would lead back to it or get lost.

/** Milliseconds after which what was done has been told, and its run has begun. */
const TOLD = 700;
/** Milliseconds after which a link is followed, whatever is under way. */
const PATIENCE = 2500;

export class Behind {
  private acted = -Infinity;
  private address = "";

  /** Something was done on the page; what is heard of it another address has. */
  act(now: number, address: string): void {
    this.acted = now;
    this.address = address;
  }

  /** Whether a link that is followed now may be ahead of what was done before. */
  waits(now: number): boolean {
    return now - this.acted < TOLD;
  }

  /** Whether a link that has waited since a moment may be followed. settled: whether no run is under way. */
  over(now: number, since: number, address: string, settled: boolean): boolean {
    const told = address !== this.address || !this.waits(now);
    return (settled && told) || now - since >= PATIENCE;
  }
}
