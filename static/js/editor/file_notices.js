// Notices above the text of an open file: what happened to it, and its conflicts.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { conflicts, settled } from "./merge.js";
import { t } from "../i18n/translate.js";

export class FileNotices {
  constructor() {
    this.said = h("div", {});
    this.open = h("div", {});
    this.element = h("div", { class: "file-notices" }, this.said, this.open);
  }

  /** Says *words* in the place of what was said before. */
  tell(words) {
    const close = button(
      { class: "quiet tiny", "aria-label": t("Close"), on: { click: () => this.clear() } },
      icon("close"),
    );
    this.said.replaceChildren(
      h("p", { class: "file-notice", role: "alert" }, icon("alert"), h("span", { text: words }), close),
    );
  }

  clear() {
    this.said.replaceChildren();
  }

  /** Offers to settle the first conflict in the text of *editor*. @param {import("./editor.js").Editor} editor */
  drawConflicts(editor) {
    const found = conflicts(editor.text);
    if (!found.length) return this.open.replaceChildren();
    const settle = (choice) => () => {
      editor.replaceRange(found[0].from, found[0].to, settled(found[0], choice));
      editor.view.focus(); // the button that had it is gone
    };
    this.open.replaceChildren(
      h(
        "div",
        { class: "conflicts", role: "group", "aria-label": t("Conflict") },
        h("span", { text: t("Conflict 1 of {n}", { n: found.length }) }),
        button({ class: "small", on: { click: () => editor.goToOffset(found[0].from) } }, t("Show")),
        button({ class: "small", on: { click: settle("mine") } }, t("Keep your version")),
        button({ class: "small", on: { click: settle("theirs") } }, t("Keep the version on disk")),
        button({ class: "small", on: { click: settle("both") } }, t("Keep both")),
      ),
    );
  }
}
