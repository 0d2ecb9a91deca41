import { mounting } from "../core/board";
import { SweepBoard } from "../sweep/board";
import { inStreamlit } from "./streamlit";

export default inStreamlit(mounting(SweepBoard));
