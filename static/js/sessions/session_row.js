// One session in the list: its title, how it is, and what can be done with it.

import { attribute, button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { money } from "../lib/format.js";
import { clock } from "../lib/time.js";
import { language, t } from "../i18n/translate.js";
import { api } from "../net/api.js";
import { confirmed } from "../dialogs/dialog.js";
import { editField, titleField } from "./title_field.js";

export class SessionRow {
  /**
   * @param {any} row of the server, with `isShown`
   * @param {import("../app.js").App} app
   * @param {{open: (id: string) => void, choose: (id: string) => void, edited: () => void}} list *edited* when a field
   *   is left, for which the list stood still
   */
  constructor(row, app, list) {
    this.app = app;
    this.list = list;
    this.mark = h("input", { type: "checkbox", hidden: true, on: { change: () => list.choose(this.row.id) } });
    this.title = h("span", { class: "title" });
    this.unread = h("span", { class: "unread", role: "img", "aria-label": t("unread") });
    this.last = h("span", { class: "last" });
    this.asks = h("span", { class: "badge asks" });
    this.spinner = h("span", { class: "spinner", role: "img", "aria-label": t("running") });
    this.facts = h("span", { class: "muted" });
    this.choose = button(
      {
        class: "choose",
        data: { act: "choose" },
        on: {
          click: () => (this.row.isChosen === null ? list.open : list.choose)(this.row.id),
          keydown: (event) => event.key === "F2" && this.#rename(),
        },
      },
      this.title,
      this.asks,
      this.spinner,
      this.unread,
      this.last,
      this.facts,
    );
    this.acts = {
      pin: this.#act("pin", () => this.#change({ pinned: !this.row.pinned })),
      tag: this.#act("tag", () => this.#tag()),
      edit: this.#act("edit", () => this.#rename()),
      fork: this.#act("fork", () => this.#fork()),
      archive: this.#act("archive", () => this.#change({ archived: !this.row.archived })),
      download: exportMenu(row.id),
      delete: this.#act("delete", () => this.#remove()),
    };
    this.tools = h("span", { class: "acts" }, ...Object.values(this.acts));
    this.element = h("li", { data: { id: row.id } }, this.mark, this.choose, this.tools);
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
    this.unread.hidden = row.asking || row.running || row.isShown || !row.unread;
    this.mark.hidden = row.isChosen === null;
    this.mark.checked = Boolean(row.isChosen);
    attribute(this.mark, "aria-label", t("Choose {title}", { title: this.#name }));
    retext(this.last, row.last === row.title ? "" : withoutMarks(row.last ?? ""));
    attribute(this.acts.pin, "aria-pressed", String(Boolean(row.pinned)));
    const facts = [
      clock(row.updated, language),
      row.turns === 1 ? t("1 turn") : t("{n:,} turns", { n: row.turns }),
      row.cost_usd > 0 && money(row.cost_usd),
      row.parent && t("a fork"),
      ...(row.tags ?? []).map((tag) => `#${tag}`),
    ];
    retext(this.facts, facts.filter(Boolean).join(" · "));
    this.#nameActs();
  }

  get #name() {
    return this.row.title || t("Untitled");
  }

  #nameActs() {
    const words = {
      pin: this.row.pinned ? t("Unpin") : t("Pin"),
      tag: t("Tags"),
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
    this.#edit((leave) => titleField(this.app, this.row, leave));
  }

  #tag() {
    const { id, tags = [] } = this.row;
    const keep = (text) => api.changeSession(id, { tags: text.split(/[,，\s]+/) });
    this.#edit((leave) => editField(this.app, { text: tags.join(" "), name: t("Tags"), placeholder: t("work urgent"), keep }, leave));
  }

  /** @param {(leave: (isByKey: boolean) => void) => HTMLInputElement} made the field in the place of the row */
  #edit(made) {
    const field = made((isByKey) => {
      this.element.replaceChildren(this.mark, this.choose, this.tools);
      if (isByKey) this.choose.focus();
      this.list.edited();
    });
    this.element.replaceChildren(field);
    field.select();
  }

  async #fork() {
    const copy = await this.app.attempt(() => api.forkSession(this.row.id, this.row.turns));
    if (copy) this.list.open(copy.id);
  }

  #change(change) {
    return this.app.attempt(() => api.changeSession(this.row.id, change));
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
        keydown: (event) => {
          if (event.key !== "Escape" || !menu.open) return;
          event.preventDefault(); // it leaves the menu, not the list
          event.stopPropagation();
          close();
          menu.firstElementChild.focus();
        },
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

/** Words as they are read: without the marks of Markdown. */
const withoutMarks = (text) => text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/(^|\s)#+\s|\*\*|`|\||:?-{3,}:?/g, " ").replace(/\s+/g, " ").trim();
