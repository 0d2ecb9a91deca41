import { SquashBoard } from "../basics/squash";
import { mounting } from "../core/board";
import { inStreamlit } from "./streamlit";

export default inStreamlit(mounting(SquashBoard));
