// What was begun in the repository and is to be finished first: said, gone on with, or ended, by the
// command that the person would type, so that it is theirs and stands in the talk.

import { button, h, retext } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { confirmed } from "../dialogs/dialog.js";

const WORDS = {
  merge: () => t("A merge is in progress. Resolve and stage its conflicts, then commit."),
  bisect: () => t("A bisect is in progress. Mark commits as good or bad in your terminal, or end it here."),
};

export class UnderWay {
  #what = "";

  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    this.words = h("p");
    this.onward = button({ class: "small", on: { click: () => this.#run("-c core.editor=true", "--continue") } }, t("Continue"));
    this.skip = button({ class: "small", on: { click: () => this.#skip() } }, t("Skip this commit"));
    this.abort = button({ class: "small", on: { click: () => this.#abort() } }, t("Abort"));
    this.end = button({ class: "small", on: { click: () => this.#run("", "reset") } }, t("End the bisect"));
    this.element = h("div", { class: "under-way", hidden: true }, this.words, h("div", { class: "buttons" }, this.onward, this.skip, this.abort, this.end));
  }

  /** @param {string} what is under way, "" where nothing is @param {number} conflicts files that have some */
  draw(what, conflicts) {
    this.#what = what;
    this.element.hidden = !what;
    const words = WORDS[what] ?? (() => t("A {what} is in progress. Resolve and stage its conflicts, then continue.", { what }));
    retext(this.words, words());
    this.onward.hidden = this.skip.hidden = what === "merge" || what === "bisect";
    this.onward.disabled = conflicts > 0;
    this.abort.hidden = what === "bisect";
    this.end.hidden = what !== "bisect";
  }

  async #skip() {
    if (await confirmed(t("Skip this commit? Its changes, and what was resolved of them, are left out."), t("Skip this commit"))) this.#run("", "--skip");
  }

  async #abort() {
    const question = t("Abort the {what}? Files and branch become what they were before it; what was resolved is lost.", { what: this.#what });
    if (await confirmed(question, t("Abort"))) this.#run("", "--abort");
  }

  #run(options, how) {
    this.app.emit("chat"); // where its output stands
    void this.app.send(["!git", options, this.#what, how].filter(Boolean).join(" "));
  }
}
