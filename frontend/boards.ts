// All boards, by the names that capsviz.boards calls them.

import { MarginBoard } from "./basics/margin-board";
import { SquashBoard } from "./basics/squash";
import { type Mount, mounting } from "./core/board";
import { mountDecoder } from "./decoder/board";
import { CapsuleMaps } from "./capsule-maps/board";
import { MixtureBoard } from "./mixture/board";
import { RoutingBoard } from "./routing-board/board";
import { SweepBoard } from "./sweep/board";
import { Toy } from "./toy/board";

export const boards: Readonly<Record<string, Mount>> = {
  "routing-board": mounting(RoutingBoard),
  "capsule-maps": mounting(CapsuleMaps),
  toy: mounting(Toy),
  squash: mounting(SquashBoard),
  "margin-loss": mounting(MarginBoard),
  mixture: mounting(MixtureBoard),
  sweep: mounting(SweepBoard),
  "live-decoder": mountDecoder,
};
