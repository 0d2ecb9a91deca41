import { MarginBoard } from "../basics/margin-board";
import { mounting } from "../core/board";
import { inStreamlit } from "./streamlit";

export default inStreamlit(mounting(MarginBoard));
