// One changed file in the list of changes: its hunks, each to be accepted or undone, and the file.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folderOf, nameOf, visible } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { diffView } from "../cards/diff_view.js";

const KINDS = {
  created: () => t("new"),
  modified: () => t("changed"),
  deleted: () => t("deleted"),
  renamed: () => t("renamed"),
};

export class ChangedFile {
  /** @param {any} file of the server's answer @param {any} view the list, which acts */
  constructor(file, view) {
    this.view = view;
    this.kind = h("span", { class: "kind" });
    this.plus = h("span", { class: "plus" });
    this.minus = h("span", { class: "minus" });
    this.note = h("p", { class: "note muted", hidden: true });
    this.hunks = h("div", { class: "hunks" });
    this.drawHunks = keyed(
      this.hunks,
      (hunk) => hunk.key,
      (hunk) => hunkView(hunk, view),
    );
    this.details = h(
      "details",
      { class: "file-body-changes", open: !file.is_left, on: { toggle: () => this.#open() } },
      h(
        "summary",
        { title: visible(file.path) },
        icon("chevron", "turn"),
        h("span", { class: "name", text: visible(nameOf(file.path)) }),
        h("span", { class: "where muted", text: visible(folderOf(file.path)) }),
        this.kind,
        this.plus,
        this.minus,
      ),
      this.note,
      this.hunks,
    );
    this.element = h("section", { class: "file-changes" }, this.details, this.#tools(file));
    this.element.setAttribute("aria-label", visible(file.path));
    this.update(file);
  }

  #tools(file) {
    const name = visible(file.path);
    const { path } = file;
    const { view } = this;
    const tool = (act, words, picture, title, label, click) =>
      button(
        { class: "quiet tiny", title, "aria-label": label, data: { act }, on: { click } },
        icon(picture),
        h("span", { class: "words", text: words }),
      );
    this.open = tool("open", "", "edit", t("Open"), t("Open {path}", { path: name }), () =>
      view.app.emit("open", { path }),
    );
    const undo = tool(
      "undo-file",
      t("Undo"),
      "undo",
      t("Undo all changes of this file"),
      t("Undo {path}", { path: name }),
      () => view.act((source) => source.takeBack({ path })),
    );
    const accept = tool(
      "accept-file",
      t("Accept"),
      "check",
      t("Hide this file; it stays unchanged"),
      t("Accept {path}", { path: name }),
      () => view.act((source) => source.accept({ path })),
    );
    return h("div", { class: "file-tools" }, this.open, undo, accept);
  }

  update(file) {
    this.file = file;
    this.element.dataset.kind = file.kind;
    retext(this.kind, KINDS[file.kind]?.() ?? file.kind);
    const sum = (name) => (file.hunks ?? []).reduce((total, hunk) => total + hunk[name], 0);
    retext(this.plus, sum("added") ? `+${sum("added")}` : "");
    retext(this.minus, sum("removed") ? `−${sum("removed")}` : "");
    const note = say(file.note) || (file.is_left ? t("Loading…") : "");
    this.note.hidden = !note;
    retext(this.note, note);
    this.open.hidden = file.kind === "deleted" || file.is_folder;
    const hunks = file.hunks ?? [];
    const count = hunks.length;
    const key = (hunk, place) => `${file.old} ${place}/${count} ${hunk.diff}`;
    this.drawHunks(hunks.map((hunk, place) => ({ ...hunk, place, count, file, key: key(hunk, place) })));
    this.#open();
  }

  /** Asks for the hunks of a file that was left out, once somebody wants to see them. */
  async #open() {
    if (this.isAsking) return;
    this.isAsking = true;
    while (this.details.open && this.file.is_left) {
      const { file } = this;
      await this.view.source.load(file);
      if (file === this.file) this.details.open = false; // they cannot be had, and that was said
    }
    this.isAsking = false;
  }
}

function hunkView(hunk, view) {
  const { file, place, count } = hunk;
  const path = visible(file.path);
  const part = { path: file.path, diff: hunk.diff };
  const names = { n: place + 1, count, path };
  const tools = h(
    "div",
    { class: "hunk-tools" },
    h("span", { class: "muted", text: t("Change {n} of {count}", names) }),
    button(
      {
        class: "quiet tiny",
        data: { act: "undo" },
        "aria-label": t("Undo change {n} of {count} in {path}", names),
        title: t("Undo this change"),
        on: { click: () => view.act((source) => source.takeBack(part)) },
      },
      icon("undo"),
      t("Undo"),
    ),
    button(
      {
        class: "quiet tiny",
        data: { act: "accept" },
        "aria-label": t("Accept change {n} of {count} in {path}", names),
        title: t("Hide this change; the file stays unchanged"),
        on: { click: () => view.act((source) => source.accept(part)) },
      },
      icon("check"),
      t("Accept"),
    ),
  );
  const diff = diffView(hunk.diff, { path: file.path, isSplit: view.isSplit });
  const isAlone = count === 1 && file.kind !== "modified";
  const element = h("div", { class: "hunk" }, !isAlone && file.is_divisible ? tools : null, diff);
  return { element };
}
