// What the agent changed in this session, file by file.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folderOf, nameOf, visible } from "../lib/format.js";
import { t } from "../lib/words.js";
import { changedFiles, newestTodos } from "../state/derived.js";
import { diffView } from "../cards/diffs.js";
import { todoCard } from "../cards/cards.js";

const KINDS = {
  created: () => t("new"),
  modified: () => t("changed"),
  deleted: () => t("deleted"),
  renamed: () => t("renamed"),
};

/** @param {import("../app.js").App} app @param {HTMLElement} element to be filled */
export function changesView(app, element) {
  const total = h("p", { class: "total" });
  const undo = button(
    {
      class: "small",
      title: t("Undo what the last turn did to files"),
      on: { click: () => app.send("/undo") },
    },
    t("Undo last turn"),
  );
  const list = h("div", { class: "changed-files" });
  const files = keyed(
    list,
    (file) => file.path,
    (file) => fileChanges(file, app),
  );
  const empty = h(
    "div",
    { class: "pane-empty" },
    icon("changes"),
    h("p", { text: t("What the agent changes shows here.") }),
    h("p", { class: "muted", text: t("Choose a file on the left to read or edit it.") }),
  );
  const plan = h("section", { class: "plan", hidden: true, "aria-label": t("Plan") });
  element.append(plan, h("header", { class: "changes-head" }, total, undo), empty, list);
  let items = null;
  let todos = null;
  app.show(({ picture }) => {
    if (picture.items === items) return;
    items = picture.items;
    const changed = stable(files.last ?? [], changedFiles(items));
    files.last = changed;
    files(changed);
    empty.hidden = changed.length > 0;
    total.parentElement.hidden = !changed.length;
    retext(total, changed.length === 1 ? t("1 file changed") : t("{n} files changed", { n: changed.length }));
    const now = newestTodos(items);
    if (now === todos) return;
    todos = now;
    plan.hidden = !todos?.length;
    plan.replaceChildren(...(todos?.length ? [h("h2", { text: t("Plan") }), todoCard({ todos })] : []));
  });
}

/** Files that did not change since keep their views. */
function stable(before, now) {
  const known = new Map(before.map((file) => [file.path, file]));
  return now.map((file) => {
    const old = known.get(file.path);
    return old && old.edits.length === file.edits.length && old.kind === file.kind ? old : file;
  });
}

function fileChanges(file, app) {
  const kind = h("span", { class: "kind" });
  const plus = h("span", { class: "plus" });
  const minus = h("span", { class: "minus" });
  const diffs = h("div", {});
  const edits = keyed(
    diffs,
    (edit) => edit.key,
    (edit) => ({ element: diffView(edit.diff, { path: file.path }) }),
  );
  const open = button(
    {
      class: "quiet tiny",
      title: t("Open"),
      "aria-label": t("Open {path}", { path: visible(file.path) }),
      on: { click: () => app.tell("open", { path: file.path }) },
    },
    icon("edit"),
  );
  const element = h(
    "details",
    { class: "file-changes", open: true },
    h(
      "summary",
      {},
      icon("chevron", "turn"),
      h("span", { class: "name", text: visible(nameOf(file.path)) }),
      h("span", { class: "where muted", text: visible(folderOf(file.path)) }),
      kind,
      plus,
      minus,
    ),
    h("div", { class: "file-tools" }, open),
    diffs,
  );
  const update = (now) => {
    element.dataset.kind = now.kind;
    retext(kind, KINDS[now.kind]?.() ?? now.kind);
    retext(plus, now.added ? `+${now.added}` : "");
    retext(minus, now.removed ? `−${now.removed}` : "");
    open.hidden = now.kind === "deleted";
    edits(now.edits);
  };
  update(file);
  return { element, update };
}
