import { mounting } from "../core/board";
import { Film } from "../film/board";
import { inStreamlit } from "./streamlit";

export default inStreamlit(mounting(Film));
