// One changed file in the Git pane: its diff, and what can be done with it or with one hunk.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folderOf, nameOf } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { diffView } from "../cards/diff_view.js";

const LETTERS = {
  A: () => t("new"),
  M: () => t("changed"),
  T: () => t("changed"),
  D: () => t("deleted"),
  U: () => t("conflict"),
  "?": () => t("untracked"),
};
const KINDS = { A: "created", "?": "created", D: "deleted" };

export class GitFile {
  #round = 0;

  /** @param {any} file @param {"staged" | "unstaged" | "untracked" | "conflicts"} kind @param {any} pane */
  constructor(file, kind, pane) {
    this.kind = kind;
    this.pane = pane;
    this.path = file.path;
    this.shown = file.shown;
    this.letter = h("span", { class: "kind" });
    this.note = h("p", { class: "note muted", hidden: true });
    this.hunks = h("div", { class: "hunks" });
    this.drawHunks = keyed(
      this.hunks,
      (hunk) => hunk.key,
      (hunk) => ({ element: this.#hunk(hunk) }),
    );
    this.details = h(
      "details",
      { class: "file-body-changes", on: { toggle: () => this.load() } },
      h(
        "summary",
        { title: file.shown },
        icon("chevron", "turn"),
        h("span", { class: "name", text: nameOf(file.shown) || file.shown }),
        h("span", { class: "where muted", text: folderOf(file.shown) }),
        this.letter,
      ),
      this.note,
      this.hunks,
    );
    this.element = h(
      "div", // no section: the file may stand in two lists
      { class: "file-changes", role: "group", "aria-label": file.shown },
      this.details,
      h("div", { class: "file-tools" }, ...this.#tools()),
    );
    this.update(file);
  }

  update(file) {
    this.element.dataset.kind = KINDS[file.letter] ?? "modified";
    retext(this.letter, LETTERS[file.letter]?.() ?? file.letter);
  }

  #tools() {
    const { kind, pane, path } = this;
    const open = tool("open", "edit", "", t("Open {path}", { path: this.shown }), () =>
      pane.app.emit("open", { path }),
    );
    const paths = { paths: [path] };
    if (kind === "staged")
      return [open, tool("unstage", "undo", t("Unstage"), t("Unstage {path}", { path: this.shown }), () => pane.act("unstage", paths))];
    const stage = tool("stage", "add", t("Stage"), t("Stage {path}", { path: this.shown }), () => pane.act("stage", paths));
    if (kind === "conflicts") return [open, stage];
    return [
      open,
      tool("discard", "delete", t("Discard"), t("Discard {path}", { path: this.shown }), () => pane.discard(this)),
      stage,
    ];
  }

  /** Asks for the diff while it is open; what comes late and is about an older one does not count. */
  async load() {
    if (!this.details.open) return;
    const round = (this.#round += 1);
    const answer = await this.pane.source.get("diff", { path: this.path, staged: this.kind === "staged" ? 1 : 0 });
    if (!answer || round !== this.#round) return;
    const { hunks, note, is_divisible } = answer.diff;
    const count = hunks.length;
    this.drawHunks(
      hunks.map((hunk, place) => ({ ...hunk, place, count, is_divisible, key: `${hunk.id} ${place}/${count}` })),
    );
    retext(this.note, say(note));
    this.note.hidden = !note;
  }

  #hunk(hunk) {
    const { kind, pane } = this;
    const names = { n: hunk.place + 1, count: hunk.count, path: this.shown };
    const body = { paths: [this.path], hunk: hunk.id };
    const tools =
      kind === "staged"
        ? [tool("unstage-hunk", "undo", t("Unstage"), t("Unstage change {n} of {count} in {path}", names), () => pane.act("unstage", body))]
        : [
            tool("discard-hunk", "delete", t("Discard"), t("Discard change {n} of {count} in {path}", names), () => pane.discard(this, hunk.id)),
            tool("stage-hunk", "add", t("Stage"), t("Stage change {n} of {count} in {path}", names), () => pane.act("stage", body)),
          ];
    const head = h("div", { class: "hunk-tools" }, h("span", { class: "muted", text: t("Change {n} of {count}", names) }), ...tools);
    const isAlone = hunk.count === 1 || !hunk.is_divisible;
    return h("div", { class: "hunk" }, isAlone ? null : head, diffView(hunk.diff, { path: this.path }));
  }
}

/** A button with an icon and maybe words; *label* says all of it. */
function tool(act, picture, words, label, click) {
  return button(
    { class: "quiet tiny", title: label, "aria-label": label, data: { act }, on: { click } },
    icon(picture),
    words ? h("span", { class: "words", text: words }) : "",
  );
}
