import { mounting } from "../core/board";
import { RoutingBoard } from "../routing-board/board";
import { inStreamlit } from "./streamlit";

export default inStreamlit(mounting(RoutingBoard));
