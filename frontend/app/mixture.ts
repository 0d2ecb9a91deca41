import { mounting } from "../core/board";
import { MixtureBoard } from "../mixture/board";
import { inStreamlit } from "./streamlit";

export default inStreamlit(mounting(MixtureBoard));
