// One session in the list: its title, how it is, and what can be done with it.

import { attribute, button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { clock } from "../lib/time.js";
import { language, t } from "../i18n/translate.js";
import { api } from "../net/api.js";
import { confirmed } from "../dialogs/dialog.js";
import { titleField } from "./title_field.js";

export class SessionRow {
  /**
   * @param {any} row of the server, with `isShown`
   * @param {import("../app.js").App} app
   * @param {(id: string) => void} open
   */
  constructor(row, app, open) {
    this.app = app;
    this.open = open;
    this.title = h("span", { class: "title" });
    this.asks = h("span", { class: "badge asks" });
    this.spinner = h("span", { class: "spinner", role: "img", "aria-label": t("running") });
    this.facts = h("span", { class: "muted" });
    this.choose = button(
      {
        class: "choose",
        data: { act: "choose" },
        on: {
          click: () => open(this.row.id),
          keydown: (event) => event.key === "F2" && this.#rename(),
        },
      },
      this.title,
      this.asks,
      this.spinner,
      this.facts,
    );
    this.acts = {
      edit: this.#act("edit", () => this.#rename()),
      fork: this.#act("fork", () => this.#fork()),
      archive: this.#act("archive", () => this.#archive()),
      download: exportMenu(row.id),
      delete: this.#act("delete", () => this.#remove()),
    };
    this.tools = h("span", { class: "acts" }, ...Object.values(this.acts));
    this.element = h("li", { data: { id: row.id } }, this.choose, this.tools);
    this.update(row);
  }

  #act(picture, work) {
    return button({ class: "quiet tiny", data: { act: picture }, on: { click: work } }, icon(picture));
  }

  /** Touches only what is another, so that the focus stays and an open menu open. */
  update(row) {
    this.row = row;
    this.element.className = `session ${row.isShown ? "shown" : ""}`;
    attribute(this.choose, "aria-current", row.isShown ? "true" : null);
    retext(this.title, this.#name);
    retext(this.asks, row.asking ? t("needs you") : "");
    this.asks.hidden = !row.asking;
    this.spinner.hidden = row.asking || !row.running;
    const facts = [
      clock(row.updated, language),
      row.turns === 1 ? t("1 turn") : t("{n:,} turns", { n: row.turns }),
      row.parent && t("a fork"),
    ];
    retext(this.facts, facts.filter(Boolean).join(" · "));
    this.#nameActs();
  }

  get #name() {
    return this.row.title || t("Untitled");
  }

  #nameActs() {
    const words = {
      edit: t("Rename"),
      fork: t("Fork"),
      archive: this.row.archived ? t("Unarchive") : t("Archive"),
      download: t("Export"),
      delete: t("Delete"),
    };
    for (const [name, word] of Object.entries(words)) {
      const act = this.acts[name].querySelector("summary") ?? this.acts[name];
      attribute(act, "title", word);
      attribute(act, "aria-label", `${word}: ${this.#name}`);
    }
  }

  #rename() {
    const field = titleField(this.app, this.row, (isByKey) => {
      this.element.replaceChildren(this.choose, this.tools);
      if (isByKey) this.choose.focus();
    });
    this.element.replaceChildren(field);
    field.select();
  }

  async #fork() {
    const copy = await this.app.attempt(() => api.forkSession(this.row.id, this.row.turns));
    if (copy) this.open(copy.id);
  }

  #archive() {
    const { id, archived } = this.row;
    return this.app.attempt(() => api.changeSession(id, { archived: !archived }));
  }

  async #remove() {
    const question = t("Permanently delete “{title}”?", { title: this.#name });
    if (!(await confirmed(question, t("Delete")))) return;
    await this.app.attempt(() => api.deleteSession(this.row.id));
    await this.app.refreshSessions(this.row.archived ? 1 : 0);
  }
}

/** @param {string} id */
function exportMenu(id) {
  const close = () => (menu.open = false);
  const entry = (format, words) =>
    h("a", { href: api.exportAddress(id, format), download: "", text: words, on: { click: close } });
  const menu = h(
    "details",
    {
      class: "export",
      on: {
        focusout: (event) => event.relatedTarget && !menu.contains(event.relatedTarget) && close(),
      },
    },
    h("summary", { data: { act: "download" } }, icon("download")),
    h(
      "div",
      { class: "export-list" },
      entry("md", "Markdown"),
      entry("json", "JSON"),
      entry("html", t("Web page with replay")),
    ),
  );
  return menu;
}
