// One terminal, in a tab of the right pane: the shell and the line above it that says where it runs.

import { button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { say, t } from "../i18n/translate.js";
import { remember, remembered } from "../lib/storage.js";
import { confirmed } from "../dialogs/dialog.js";
import { keyOf, keysNow } from "../keyboard/shortcuts.js";
import { fenced, shownText } from "./terminal_text.js";

const READ_ALOUD = "terminal read aloud";

/** @typedef {{terminal: number, place: "sandbox" | "outside", running: boolean}} Row */

/** Where a shell runs: its icon, the words, what that means, and the name of its tab. */
export const PLACES = {
  sandbox: () => ({
    picture: "archive",
    words: t("In the sandbox"),
    meaning: t("Like the model's commands: it sees the project, but neither your other files nor the network."),
    tab: (n) => t("Sandbox {n}", { n }),
  }),
  outside: () => ({
    picture: "alert",
    words: t("Yours: outside the sandbox"),
    meaning: t("Your own shell: it can do everything that you can on this computer."),
    tab: (n) => t("Outside {n}", { n }),
  }),
};

/** The bytes that are *text* in base64. */
const bytesOf = (text) => Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));

export class TerminalView {
  /** @type {{term: any, fit: any, leave: () => void} | null} */
  #made = null;
  #making = false;
  #isLeft = false;
  #isEnded = false;
  #replayEnd = 0; // the place in the output up to which it was written before we looked
  #at = 0;
  #replays = 0; // how often the output came anew
  #typed = "";
  #isTyping = false;
  #wantsFocus = false;

  /** @param {import("./terminals.js").Terminals} terminals @param {Row} row */
  constructor(terminals, row) {
    const { terminal, place } = row;
    this.terminals = terminals;
    this.number = terminal;
    const { picture, words, meaning, tab } = PLACES[place]();
    this.tab = tab(terminal);
    this.name = t("Terminal {n}: {where}", { n: terminal, where: words });
    const tool = (drawn, name, work) =>
      button({ class: "quiet tiny", title: name, "aria-label": name, on: { click: work } }, icon(drawn));
    this.state = h("span", { class: "muted terminal-state", role: "status" });
    this.aloud = tool("book", t("Screen reader: read the output"), () => this.#switchAloud());
    this.aloud.setAttribute("aria-pressed", String(Boolean(remembered(READ_ALOUD))));
    this.place = h("div", { class: "terminal-place" });
    const bar = h(
      "div",
      { class: "terminal-bar" },
      h("strong", { class: "terminal-where", title: meaning }, icon(picture), words),
      this.state,
      h("span", { class: "gap" }),
      h("kbd", { title: t("Leave the terminal"), text: keysNow().terminal }),
      this.aloud,
      button({ class: "quiet small", on: { click: () => this.send() } }, icon("chat"), t("Add to message")),
      tool("add", t("New terminal"), () => terminals.choose()),
    );
    this.element = h("section", { class: "terminal-view", "aria-label": this.name, data: { place } }, bar, this.place);
    this.place.addEventListener("keydown", (event) => {
      if (keyOf(event) !== keysNow().terminal) event.stopPropagation(); // it is the shell's
    });
    this.resizing = new ResizeObserver(() => this.#fit());
    if (!row.running) this.#isEnded = true;
  }

  get hasFocus() {
    return this.place.contains(document.activeElement);
  }

  focus() {
    this.#wantsFocus = true;
    this.#made?.term.focus();
  }

  /** Draws it from now on; the first time it begins. */
  async shown() {
    if (this.#made || this.#making) return this.#fit();
    this.#making = true;
    try {
      await this.#make();
    } finally {
      this.#making = false;
    }
  }

  async #make() {
    const { safeTerminal } = await import("./safe_terminal.js");
    const made = await safeTerminal(this.place, () => this.hasFocus && this.#at >= this.#replayEnd);
    if (this.#isLeft) return made.leave();
    this.#made = made;
    const { term } = made;
    term.options.screenReaderMode = Boolean(remembered(READ_ALOUD));
    const key = keysNow().terminal;
    term.textarea.setAttribute("aria-label", t("{name}. {key} leaves it.", { name: this.name, key }));
    term.attachCustomKeyEventHandler((event) => this.#isForShell(event));
    term.onData((data) => this.#type(data));
    term.textarea.addEventListener("focus", () => this.#fit());
    this.#fit();
    this.resizing.observe(this.place);
    if (this.#wantsFocus) term.focus();
    await this.attach();
  }

  /** Has the server send what it keeps of the output, and what comes. */
  async attach() {
    if (this.#made) await this.terminals.ask("show", { terminal: this.number });
  }

  #isForShell(event) {
    if (keyOf(event) === keysNow().terminal) return false;
    if (keyOf(event) !== "Ctrl+Shift+C" || !this.#made.term.hasSelection()) return true;
    event.preventDefault();
    if (event.type === "keydown") navigator.clipboard.writeText(this.#made.term.getSelection());
    return false;
  }

  /** Takes a message of the server. */
  take(message) {
    const term = this.#made?.term;
    if (!term) return;
    if (message.data) this.#write(term, message);
    else if (message.lines) term.resize(message.columns, message.lines);
    else this.#ended(message);
  }

  #write(term, { data, at, fresh, until }) {
    if (fresh) {
      this.#replays += 1;
      term.write("", () => this.#begin(term, until)); // after what is still to be drawn
    }
    const replay = this.#replays;
    term.write(bytesOf(data), () => {
      this.#at = at;
      if (replay === this.#replays) this.terminals.tell("drawn", { terminal: this.number, at });
    });
  }

  /** Begins with an empty screen; the output up to *replayEnd* is drawn again. */
  #begin(term, replayEnd) {
    term.reset();
    this.#at = 0;
    this.#replayEnd = replayEnd;
  }

  #ended({ ended, code, why, notes }) {
    this.#isEnded = true;
    this.#made.term.options.disableStdin = true;
    const how = code === null ? t("Ended") : t("Ended with exit code {code}", { code });
    retext(this.state, ended === "failed" && why ? say(why) : how);
    this.state.title = notes.map(say).join("\n");
  }

  /** Types in order, as fast as the server takes it; what is typed meanwhile goes together. */
  async #type(data) {
    this.#typed += data;
    if (this.#isTyping) return;
    this.#isTyping = true;
    while (this.#typed) {
      const text = this.#typed.slice(0, 8_000).replace(/[\ud800-\udbff]$/, "");
      this.#typed = this.#typed.slice(text.length);
      if (!(await this.terminals.ask("type", { terminal: this.number, text }))) this.#typed = "";
    }
    this.#isTyping = false;
  }

  /** Makes it as large as its place, if this page is the one in use. */
  #fit() {
    if (!this.#made || this.element.hidden || !document.hasFocus()) return;
    const size = this.#made.fit.proposeDimensions();
    const { term } = this.#made;
    if (!size || this.#isEnded || (size.cols === term.cols && size.rows === term.rows)) return;
    term.resize(Math.max(size.cols, 2), Math.max(size.rows, 2));
    this.terminals.tell("resize", { terminal: this.number, lines: term.rows, columns: term.cols });
  }

  #switchAloud() {
    const isOn = this.aloud.getAttribute("aria-pressed") !== "true";
    this.aloud.setAttribute("aria-pressed", String(isOn));
    remember(READ_ALOUD, isOn ? "1" : null);
    if (this.#made) this.#made.term.options.screenReaderMode = isOn;
  }

  /** Puts what is selected, or what is seen, into the message; it is not sent. */
  send() {
    const text = this.#made && fenced(shownText(this.#made.term));
    if (text) this.terminals.app.emit("draft", text);
  }

  async close() {
    const question = t("End this shell and everything that runs in it?");
    if (!this.#isEnded && !(await confirmed(question, t("End it")))) return;
    this.terminals.ask("close", { terminal: this.number });
  }

  leave() {
    this.#isLeft = true;
    this.resizing.disconnect();
    this.#made?.leave();
    this.element.remove();
  }
}
