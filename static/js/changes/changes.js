// The changes of files since the session began, or since one of its turns: to be looked at,
// accepted or taken back, by hunk, by file or all of it.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { remember, remembered } from "../lib/storage.js";
import { t } from "../i18n/translate.js";
import { todoCard } from "../cards/cards.js";
import { ChangedFile } from "./changed_file.js";
import { ChangesSource } from "./changes_source.js";

const WIDE = 520; // px of the view, from which on two columns of text have room

/** @param {import("../app.js").App} app @param {HTMLElement} element to be filled */
export const changesView = (app, element) => new ChangesView(app, element);

class ChangesView {
  #isSplit = remembered("split") === "1";
  #isWide = false;

  constructor(app, element) {
    this.app = app;
    this.element = element;
    this.list = h("div", { class: "changed-files" });
    this.drawOwn = this.#filesIn(this.list);
    this.otherList = h("div", { class: "changed-files" });
    this.drawOthers = this.#filesIn(this.otherList);
    this.others = h(
      "section",
      { class: "changes-of-others", hidden: true, "aria-labelledby": "changes-of-others" },
      h("h2", { id: "changes-of-others", text: t("Not changed by this session") }),
      h("p", { class: "muted", text: t("Changed since by you, another session or another program.") }),
      h("div", { class: "buttons" }, this.#acceptButton(t("Accept these too"), true)),
      this.otherList,
    );
    this.#makeHead();
    this.empty = h(
      "div",
      { class: "pane-empty" },
      icon("changes"),
      (this.emptyWords = h("p", {})),
      h("p", { class: "muted", text: t("Choose a file to read or edit it.") }),
      this.emptyTools = h("div", { class: "buttons" }),
    );
    this.more = h("p", { class: "muted more-files", hidden: true });
    element.append(planView(app), this.head, this.empty, this.list, this.others, this.more);
    this.source = new ChangesSource(app, element);
    this.source.follow(() => this.#draw());
    new ResizeObserver(([{ contentRect }]) => this.#fit(contentRect.width)).observe(element);
  }

  #filesIn(list) {
    return keyed(
      list,
      (file) => file.path,
      (file) => new ChangedFile(file, this),
    );
  }

  #makeHead() {
    this.total = h("p", { class: "total", role: "status" });
    this.since = h("select", {
      class: "small",
      "aria-label": t("Show changes"),
      on: { change: () => this.source.choose(Number(this.since.value)) },
    });
    const { app } = this;
    this.split = button(
      {
        class: "quiet small",
        title: t("Old and new text in two columns"),
        on: { click: () => this.#toggleSplit() },
      },
      icon("split"),
      t("Side by side"),
    );
    this.undo = button(
      {
        class: "small",
        title: t("Undo what the last turn did to files"),
        on: { click: () => app.undo("turn", 0) },
      },
      t("Undo last turn"),
    );
    this.redo = button(
      {
        class: "small",
        title: t("Redo the last undo"),
        on: { click: () => app.undo("turn", 0, true) },
      },
      t("Redo"),
    );
    this.acceptAll = this.#acceptButton(t("Accept all"), false);
    this.head = h(
      "header",
      { class: "changes-head" },
      h("div", { class: "about" }, this.total, this.since),
      h("div", { class: "buttons" }, this.split, this.redo, this.undo, this.acceptAll),
    );
  }

  /** A button that accepts all that the session changed, or that *others* did. */
  #acceptButton(words, others) {
    return button(
      {
        class: "small",
        title: t("Hide all of these; the files stay unchanged"),
        on: { click: () => this.act((source) => source.accept({ others })) },
      },
      icon("check"),
      words,
    );
  }

  /** The files in the list, which are to be looked at for more changes. */
  get paths() {
    return (this.source?.answer?.files ?? []).filter((file) => !file.is_folder).map((file) => file.path);
  }

  // --- what its files ask for ------------------------------------------------------------------

  get isSplit() {
    return this.#isSplit && this.#isWide;
  }

  /** Has the server do something to the changes; the focus stays near where it was. */
  async act(work) {
    const stops = () => [...this.element.querySelectorAll("button")].filter((each) => each.offsetParent);
    const place = stops().indexOf(document.activeElement);
    const name = document.activeElement?.dataset?.act;
    await this.source.act(work);
    if (document.activeElement && document.activeElement !== document.body) return;
    const left = stops();
    (left.slice(Math.max(0, place)).find((each) => each.dataset.act === name) ?? left.at(-1))?.focus();
  }

  // --- drawing -----------------------------------------------------------------------------------

  #draw() {
    const { answer } = this.source;
    const files = answer?.files ?? [];
    const own = files.filter((file) => file.is_own);
    this.drawOwn(own);
    this.drawOthers(files.filter((file) => !file.is_own));
    this.others.hidden = own.length === files.length;
    this.app.emit("watch");
    this.#drawEmpty(answer, files);
    this.#drawSince(answer);
    const shown = own.length + (own.length === files.length ? (answer?.left_out ?? 0) : 0);
    retext(this.total, shown === 1 ? t("1 file changed") : shown ? t("{n:,} files changed", { n: shown }) : "");
    this.redo.hidden = !answer?.can_redo;
    this.undo.hidden = !own.length;
    this.acceptAll.hidden = !own.length;
    this.split.hidden = !this.#isWide || !files.length;
    this.split.setAttribute("aria-pressed", String(this.#isSplit));
    this.head.hidden = !files.length && !answer?.can_redo && !answer?.turns.length;
    this.more.hidden = !answer?.left_out;
    retext(this.more, t("… and {n:,} more", { n: answer?.left_out ?? 0 }));
  }

  #drawEmpty(answer, files) {
    this.empty.hidden = files.length > 0;
    retext(
      this.emptyWords,
      answer?.has_accepted
        ? t("All changes are accepted or undone.")
        : answer?.turns.length
          ? this.source.turn
            ? t("No changes since then.")
            : t("No changes left from this session.")
          : t("The agent's changes appear here."),
    );
    const again = button(
      { class: "small", on: { click: () => this.act((source) => source.showAccepted()) } },
      t("Show accepted changes again"),
    );
    this.emptyTools.replaceChildren(...(answer?.has_accepted ? [again] : []));
  }

  #drawSince(answer) {
    const turns = answer?.turns ?? [];
    const key = turns.join(" ");
    if (this.since.dataset.turns !== key) {
      this.since.dataset.turns = key;
      const option = (turn, words) => h("option", { value: turn, text: words });
      this.since.replaceChildren(
        option(0, t("since the start")),
        ...turns.slice(1).map((turn) => option(turn, t("since turn {n}", { n: turn }))),
      );
    }
    this.since.value = String(this.source.turn);
    this.since.hidden = turns.length < 2;
  }

  #toggleSplit() {
    this.#isSplit = !this.#isSplit;
    remember("split", this.#isSplit ? "1" : null);
    this.#redraw();
  }

  #fit(width) {
    const isWide = width >= WIDE;
    if (isWide === this.#isWide) return;
    this.#isWide = isWide;
    this.#redraw();
  }

  #redraw() {
    this.drawOwn([]);
    this.drawOthers([]);
    this.#draw();
  }
}

/** The model's plan, as it is now. */
function planView(app) {
  const element = h("section", { class: "plan", hidden: true, "aria-label": t("Plan") });
  let drawn = "";
  app.subscribe(({ sessionState }) => {
    const todos = sessionState?.todos ?? [];
    const now = JSON.stringify(todos);
    if (now === drawn) return;
    drawn = now;
    element.hidden = !todos.length;
    element.replaceChildren(...(todos.length ? [h("h2", { text: t("Plan") }), todoCard({ todos })] : []));
  });
  return element;
}
