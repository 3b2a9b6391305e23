// The sessions of this project: pinned ones and by day, searched, by tag, several at once.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { day, daysAgo } from "../lib/time.js";
import { language, t } from "../i18n/translate.js";
import { chosenBar } from "./chosen_bar.js";
import { byDay } from "./days.js";
import { searchSessions } from "./search.js";
import { SessionRow } from "./session_row.js";

export class SessionList {
  #archived = 0;
  #tag = "";
  /** Ids that are chosen for something that is done to several; null while none can be. */
  #chosen = null;

  /** @param {import("../app.js").App} app @param {{open: (id: string) => void, start?: () => void}} work *start* where nothing else begins one */
  constructor(app, { open, start }) {
    this.app = app;
    this.open = open;
    this.field = h("input", {
      type: "search",
      placeholder: t("Search all sessions"),
      "aria-label": t("Search all sessions"),
      on: { input: () => this.#search() },
    });
    this.choosing = this.#switch("check", t("Choose several"), () => this.#choose(this.#chosen ? null : new Set()));
    this.archive = this.#switch("archive", t("Archived"), () => this.#toggleArchive());
    this.tags = h("div", { class: "tags", role: "group", "aria-label": t("Tags"), hidden: true });
    this.drawTags = keyed(
      this.tags,
      ({ tag }) => tag,
      ({ tag }) => this.#tagView(tag),
    );
    this.bar = chosenBar(app, {
      ids: () => [...(this.#chosen ?? [])],
      isArchived: () => Boolean(this.#archived),
      done: () => this.#choose(null),
    });
    this.nothing = h("p", { class: "muted nothing", hidden: true, text: t("No sessions yet.") });
    this.rows = h("div", {});
    this.all = h("div", { class: "session-list" }, this.rows, this.nothing);
    this.found = h("div", { class: "session-list", hidden: true });
    const begin =
      start && button({ class: "primary small", on: { click: () => start() } }, icon("add"), t("New session"));
    this.element = h(
      "div",
      { class: "sessions-view" },
      h("div", { class: "drawer-tools" }, this.field, begin, this.archive, this.choosing),
      this.tags,
      this.bar.element,
      this.all,
      this.found,
    );
    this.drawGroups = keyed(
      this.rows,
      (group) => group.day,
      () => this.#groupView(),
    );
    this.leave = app.subscribe((state) => this.#draw(state));
  }

  #switch(picture, words, work) {
    return button(
      { class: "quiet small", "aria-pressed": "false", title: words, "aria-label": words, on: { click: work } },
      icon(picture),
    );
  }

  #draw({ sessions, session }) {
    if (this.rows.querySelector(".title-field")) return; // no row goes away from under what is typed
    const listed = sessions.filter((row) => Boolean(row.archived) === Boolean(this.#archived));
    const tags = [...new Set(listed.flatMap((row) => row.tags ?? []))].sort();
    if (!tags.includes(this.#tag)) this.#tag = "";
    this.tags.hidden = !tags.length;
    this.drawTags(tags.map((tag) => ({ tag, isShown: tag === this.#tag })));
    const shown = listed.filter((row) => !this.#tag || row.tags.includes(this.#tag));
    const ids = new Set(shown.map(({ id }) => id));
    for (const id of this.#chosen ?? []) if (!ids.has(id)) this.#chosen.delete(id);
    const pinned = shown.filter((row) => row.pinned);
    const others = shown.filter((row) => !row.pinned);
    const groups = [
      ...(pinned.length ? [{ day: t("Pinned"), rows: pinned }] : []),
      ...byDay(others, (row) => dayWords(row.updated)),
    ];
    keepingFocus(this.rows, this.field, () => this.drawGroups(groups.map((group) => ({ ...group, session }))));
    this.bar.draw();
    this.nothing.hidden = shown.length > 0;
  }

  #redraw() {
    this.#draw(this.app.state);
  }

  #groupView() {
    const title = h("h2", {});
    const rows = h("ul", {});
    const update = keyed(
      rows,
      (row) => row.id,
      (row) =>
        new SessionRow(row, this.app, {
          open: this.open,
          choose: (id) => this.#toggle(id),
          edited: () => this.#redraw(),
        }),
    );
    return {
      element: h("section", {}, title, rows),
      update: (group) => {
        retext(title, group.day);
        const isChosen = (id) => (this.#chosen ? this.#chosen.has(id) : null);
        update(group.rows.map((row) => ({ ...row, isShown: row.id === group.session, isChosen: isChosen(row.id) })));
      },
    };
  }

  #tagView(tag) {
    const element = button(
      { class: "quiet tiny tag", on: { click: () => this.#filter(tag) } },
      `#${tag}`,
    );
    return { element, update: ({ isShown }) => element.setAttribute("aria-pressed", String(isShown)) };
  }

  #filter(tag) {
    this.#tag = this.#tag === tag ? "" : tag;
    this.#redraw();
  }

  #choose(chosen) {
    this.#chosen = chosen;
    this.choosing.setAttribute("aria-pressed", String(Boolean(chosen)));
    this.bar.element.hidden = !chosen;
    this.#redraw();
  }

  #toggle(id) {
    if (!this.#chosen.delete(id)) this.#chosen.add(id);
    this.#redraw();
  }

  async #toggleArchive() {
    this.#archived = this.#archived ? 0 : 1;
    this.archive.setAttribute("aria-pressed", String(Boolean(this.#archived)));
    await this.app.refreshSessions(this.#archived);
  }

  #search() {
    const text = this.field.value.trim();
    this.all.hidden = Boolean(text);
    this.found.hidden = !text;
    searchSessions(this.app, text, this.found, this.open);
  }
}

function dayWords(when) {
  const days = daysAgo(when);
  if (days <= 0) return t("Today");
  return days === 1 ? t("Yesterday") : day(when, language);
}

/** Does *redraw*; the focus stays on the same button of its row, or of the row in its place. */
function keepingFocus(list, field, redraw) {
  const focused = document.activeElement;
  const held = list.contains(focused) ? focused.closest(".session") : null;
  const rows = () => [...list.querySelectorAll(".session")];
  const place = rows().indexOf(held);
  redraw();
  if (!held || list.contains(document.activeElement)) return;
  const now = rows().find((row) => row.dataset.id === held.dataset.id) ?? rows()[place] ?? rows().at(-1);
  (now?.querySelector(`[data-act="${focused.dataset.act ?? "choose"}"]`) ?? field).focus();
}
