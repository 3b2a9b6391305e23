// The line above an open file: where it is, what is known of it, and what can be done with it.

import { attribute, button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folderOf, nameOf, size, visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";
import { api } from "../net/api.js";

export class FileBar {
  /**
   * @param {import("../app.js").App} app
   * @param {string} path
   * @param {{save: () => void, preview: () => void, why: () => void}} work
   */
  constructor(app, path, { save, preview, why }) {
    this.app = app;
    this.path = path;
    this.facts = h("span", { class: "muted facts" });
    this.saveButton = button({ class: "primary small", hidden: true, on: { click: save } }, t("Save"));
    this.previewButton = button(
      { class: "small", hidden: true, "aria-pressed": "false", on: { click: preview } },
      t("Preview"),
    );
    this.whyButton = button(
      { class: "small", hidden: true, "aria-pressed": "false", title: t("Who wrote which line"), on: { click: why } },
      t("Why"),
    );
    this.pinButton = button({ class: "quiet tiny", on: { click: () => this.#toggleFocus() } }, icon("pin"));
    this.element = h(
      "div",
      { class: "file-bar" },
      this.#crumbs(),
      this.facts,
      h("span", { class: "gap" }),
      this.whyButton,
      this.previewButton,
      this.pinButton,
      this.#revealButton(),
      this.#downloadLink(),
      this.saveButton,
    );
    this.leave = app.subscribe(() => this.#drawPin());
  }

  #crumbs() {
    const folder = visible(folderOf(this.path));
    return h(
      "span",
      { class: "crumbs", title: visible(this.path) },
      h("span", { class: "muted", text: folder && `${folder}/` }),
      h("b", { text: visible(nameOf(this.path)) }),
    );
  }

  #revealButton() {
    const words = t("Reveal in the tree");
    const reveal = () => this.app.emit("reveal", this.path);
    return button(
      { class: "quiet tiny", title: words, "aria-label": words, on: { click: reveal } },
      icon("sidebar"),
    );
  }

  #downloadLink() {
    const words = t("Download");
    const href = api.downloadAddress(this.path);
    return h("a", { class: "button quiet tiny", href, title: words, "aria-label": words }, icon("download"));
  }

  /** @param {any} file as the server tells of it */
  drawFacts(file) {
    this.facts.textContent = [
      size(file.size),
      !/^utf-8(, lf)?$/i.test(file.encoding) && file.encoding,
      !file.is_writable && t("read-only"),
    ]
      .filter(Boolean)
      .join(" · ");
  }

  get #focus() {
    return this.app.state.sessionState?.focus?.find(({ path }) => path === this.path);
  }

  #drawPin() {
    const focus = this.#focus;
    const words = focus ? t("In focus: {n:,} tokens", { n: focus.tokens }) : t("Add to focus");
    attribute(this.pinButton, "title", words);
    attribute(this.pinButton, "aria-label", words);
    attribute(this.pinButton, "aria-pressed", String(Boolean(focus)));
  }

  #toggleFocus() {
    this.app.attempt(() => api.focus(this.app.state.session, this.path, !this.#focus));
  }
}
