import { mounting } from "../core/board";
import { CapsuleMaps } from "../capsule-maps/board";
import { inStreamlit } from "./streamlit";

export default inStreamlit(mounting(CapsuleMaps));
