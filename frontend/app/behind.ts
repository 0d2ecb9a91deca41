// A link to another page that is followed right behind something else waits until that has been heard: what a field that
// loses its focus, the pad or a player tells shortly after names the page before, and would lead back to it or get lost.
// So does a button that saves a file or begins a tour, which would be what was there before.

/** Milliseconds after which what was done has been told. */
const TOLD = 700;
/** Milliseconds after which a link is followed, whatever is under way. */
const PATIENCE = 2500;

export class Behind {
  private acted = -Infinity;
  private address: string | null = null;

  /** Something was done on the page. address: of a field, which tells at once; another one then says that it was heard. */
  act(now: number, address: string | null = null): void {
    this.acted = now;
    this.address = address;
  }

  /** Whether a link that is followed now may be ahead of what was done before. settled: whether no run is under way. */
  waits(now: number, settled: boolean): boolean {
    return now - this.acted < (settled ? TOLD : PATIENCE);
  }

  /** Whether a link that has waited since a moment may be followed. */
  over(now: number, since: number, address: string, settled: boolean): boolean {
    const heard = settled && this.address !== null && address !== this.address;
    return heard || !this.waits(now, settled) || now - since >= PATIENCE;
  }
}
