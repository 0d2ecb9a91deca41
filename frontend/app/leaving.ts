// The way from one page to another: from the link that is followed, or the browser's Back, until that page has begun.
// What a component tells meanwhile would name the page before, and lead back there.

import { settled } from "./script-state";

export class Leaving {
  /** Milliseconds after which a page that was asked for will not come. */
  static readonly PATIENCE = 4000;

  private to: { readonly page: string; readonly since: number } | null = null;
  private from = "";

  /** The page at a path is asked for; to the one that is open, nothing is left. */
  leaves(path: string, now: number): void {
    const page = path.split("/").at(-1) ?? "";
    if (page !== this.from || this.to) this.to = { page, since: now };
  }

  /**
   * A page is drawn, by its name in the address; the one at the address without a name has none. Returns whether it is
   * the one that was on its way.
   */
  begun(page: string): boolean {
    const awaited = this.to !== null && (page === this.to.page || (!page && this.from !== ""));
    if (awaited) this.to = null;
    this.from = page;
    return awaited;
  }

  /** Whether another page is on its way. settled: whether no run is under way, in which it may still begin. */
  lasts(now: number, settled: boolean): boolean {
    if (this.to && settled && now - this.to.since >= Leaving.PATIENCE) this.to = null;
    return this.to !== null;
  }
}

declare global {
  interface Window {
    capsvizLeaving?: Leaving;
  }
}

/** The way of this window, which all components have in common. */
export function leaving(): Leaving {
  return (window.capsvizLeaving ??= new Leaving());
}

/** Whether the page is being left. */
export function left(): boolean {
  return leaving().lasts(performance.now(), settled());
}
