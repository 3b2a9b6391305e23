// What is taken of xterm.js: the terminal, and what fits it to the room that it has.
import { Terminal as Base } from "@xterm/xterm";
import { styledDocument } from "./xterm.document.mjs";

export { FitAddon } from "@xterm/addon-fit";

export class Terminal extends Base {
  constructor(options) {
    super({ ...options, documentOverride: styledDocument });
  }
}
