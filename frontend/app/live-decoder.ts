import { mountDecoder } from "../decoder/board";
import { inStreamlit } from "./streamlit";

export default inStreamlit(mountDecoder);
