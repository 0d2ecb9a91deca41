// All boards, by the names that capsviz.boards calls them.

import { type Mount, mounting } from "./core/board";
import { mountDecoder } from "./decoder/board";
import { Film } from "./film/board";
import { RoutingBoard } from "./routing-board/board";
import { Toy } from "./toy/board";

export const boards: Readonly<Record<string, Mount>> = {
  "routing-board": mounting(RoutingBoard),
  film: mounting(Film),
  toy: mounting(Toy),
  "live-decoder": mountDecoder,
};
