// What the toy shows by itself: votes that do not agree, the same votes agreeing, and then the iterations of their routing.

import { routeByAgreement, type Step, type Votes } from "./routing";

export interface Story {
  /** The votes before they agree. */
  readonly before: Votes;
  /** What is to be seen: before, when they agree, and in all iterations after the first. */
  readonly said: readonly [string, string, string];
}

/** A vector on its way to another: its direction turns the shorter way round, its length goes evenly. */
function turned(from: readonly [number, number], to: readonly [number, number], share: number): [number, number] {
  const [start, end] = [Math.atan2(from[1], from[0]), Math.atan2(to[1], to[0])];
  const way = ((((end - start) % (2 * Math.PI)) + 3 * Math.PI) % (2 * Math.PI)) - Math.PI;
  const length = (1 - share) * Math.hypot(...from) + share * Math.hypot(...to);
  return [length * Math.cos(start + share * way), length * Math.sin(start + share * way)];
}

/** Votes between those before and those that agree. */
function between(before: Votes, after: Votes, share: number): Votes {
  if (share >= 1) return after;
  return after.map((capsule, i) => capsule.map((vote, j) => turned(before[i][j], vote, share)));
}

/** What is on screen at a position: frame 0 has the votes before, frame 1 and those after it an iteration each. */
export function told(
  { before }: Story,
  after: Votes,
  iterations: number,
  position: number,
): { votes: Votes; steps: Step[]; position: number } {
  const votes = between(before, after, position);
  return { votes, steps: routeByAgreement(votes, iterations), position: Math.max(0, position - 1) };
}
