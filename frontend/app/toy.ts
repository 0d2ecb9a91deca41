import { mounting } from "../core/board";
import { Toy } from "../toy/board";
import { inStreamlit } from "./streamlit";

export default inStreamlit(mounting(Toy));
