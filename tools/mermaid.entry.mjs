// Diagrams: the whole of mermaid, for a frame that loads no modules.
import mermaid from "mermaid";

globalThis.mermaid = mermaid;
