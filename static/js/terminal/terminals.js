// The terminals of this server, as tabs of the right pane; every page has the same.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { stylesReady } from "../lib/styles.js";
import { say, t } from "../i18n/translate.js";
import { openDialog } from "../dialogs/dialog.js";
import { viewsOf } from "../layout/pane_views.js";
import { PLACES, TerminalView } from "./terminal_view.js";

const ACK_LIMIT = 60_000; // ms; a sandbox that starts on a busy machine takes its time
const FIRST_SIZE = { lines: 24, columns: 80 }; // until it is known what room there is

/**
 * Offers terminals, on a server that has them.
 * @param {import("../app.js").App} app @param {any} pane
 * @param {(key?: string) => void} choose shows a tab of the pane
 */
export async function offerTerminals(app, pane, choose) {
  await stylesReady(new URL("../../css/terminal.css", import.meta.url).href);
  const terminals = new Terminals(app, await app.connection.socket(), viewsOf(pane, choose));
  app.actions.terminal = () => terminals.toggle();
  const words = t("Terminal: open, enter or leave");
  const opening = button(
    { class: "quiet", title: words, "aria-label": words, on: { click: () => terminals.enter() } },
    icon("terminal"),
  );
  document.querySelector(".topbar .gap").after(opening);
  await terminals.follow();
}

export class Terminals {
  /** @type {Map<number, TerminalView>} */
  #known = new Map();

  constructor(app, socket, views) {
    this.app = app;
    this.socket = socket;
    this.views = views;
    socket.on("terminal", (message) => this.#known.get(message.terminal)?.take(message));
    socket.on("terminals", ({ terminals }) => this.#listed(terminals));
    socket.on("connect", () => this.follow());
  }

  /** Shows what there is now, and goes on with what was shown. */
  async follow() {
    const answer = await this.ask("terminals", {});
    if (!answer) return;
    const before = [...this.#known.values()];
    this.#listed(answer.terminals);
    for (const view of before) if (this.#known.get(view.number) === view) view.attach();
  }

  #listed(rows) {
    for (const [number, view] of [...this.#known]) {
      if (rows.some(({ terminal }) => terminal === number)) continue;
      this.#known.delete(number);
      const hadFocus = view.hasFocus;
      this.views.remove(this.#key(view));
      if (hadFocus) this.app.emit("compose");
    }
    for (const row of rows) if (!this.#known.has(row.terminal)) this.#add(row);
  }

  #add(row) {
    const view = new TerminalView(this, row);
    this.#known.set(row.terminal, view);
    this.views.add(this.#key(view), view);
    this.views.choose();
  }

  #key = (view) => `/terminal/${view.tab}`;

  get #shown() {
    return [...this.#known.values()].find((view) => this.#key(view) === this.views.shown);
  }

  /** From the terminal to the message and back. */
  toggle() {
    if (this.#shown?.hasFocus) this.app.emit("compose");
    else this.enter();
  }

  /** Goes to the terminal that is shown or was opened last; without one it is asked which to open. */
  enter() {
    const view = this.#shown ?? [...this.#known.values()].at(-1);
    if (view) this.#enter(view);
    else this.choose();
  }

  #enter(view) {
    this.app.emit("pane", true);
    this.views.choose(this.#key(view));
    view.focus();
  }

  /** Asks where a new shell is to run. */
  choose() {
    const kinds = Object.entries(PLACES).map(([place, describe]) => {
      const { picture, words, meaning } = describe();
      return button(
        { class: "terminal-kind", data: { place }, on: { click: () => (dialog.close(), this.open(place)) } },
        h("b", { class: "terminal-where" }, icon(picture), words),
        h("span", { class: "muted", text: meaning }),
      );
    });
    const dialog = openDialog(t("New terminal"), "sheet", kinds);
    kinds[0].focus();
  }

  async open(place) {
    const answer = await this.ask("open", { place, ...FIRST_SIZE });
    if (!answer) return;
    if (!this.#known.has(answer.terminal)) this.#add({ terminal: answer.terminal, place, running: true });
    this.#enter(this.#known.get(answer.terminal));
  }

  /** Returns what the server answers; undefined where it does not, and then the person is told. */
  async ask(name, fields) {
    if (!this.socket.connected) return undefined;
    const answer = await this.socket.timeout(ACK_LIMIT).emitWithAck(`terminal-${name}`, fields).catch(() => null);
    if (answer?.ok) return answer;
    this.app.notice(answer ? say(answer.phrase) || answer.error : t("The server does not answer."), true);
    return undefined;
  }

  /** Says what needs no answer. */
  tell(name, fields) {
    if (this.socket.connected) this.socket.emit(`terminal-${name}`, fields);
  }
}
