// One row of the file tree, with its marks.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folderOf, visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";

/**
 * @param {import("./tree_model.js").Row} row
 * @param {{isCurrent: boolean, isShown: boolean, isGlowing: boolean}} looks
 */
export function treeRow(row, { isCurrent, isShown, isGlowing }) {
  const { entry } = row;
  if (!entry) return unknownRow(row);
  const isFolder = entry.kind === "folder";
  const name = visible(entry.name);
  const notes = [entry.note, entry.line_notes].filter(Boolean).join("; ");
  const marks = [
    notes && h("span", { class: "mark", title: notes }, icon("note")),
    entry.focus && h("span", { class: "mark focus", title: t("In focus") }, icon("pin")),
    entry.git &&
      h("span", {
        class: `git git-${entry.git === "?" ? "new" : entry.git}`,
        title: gitWords(entry.git),
        data: { badge: entry.git === "?" ? "N" : entry.git },
      }),
  ];
  const element = h(
    "div",
    {
      class: ["node", entry.ignored && "ignored", isGlowing && "glow", isCurrent && "current"]
        .filter(Boolean)
        .join(" "),
      role: "treeitem",
      data: { path: row.path },
      "aria-level": row.depth,
      "aria-setsize": row.siblings,
      "aria-posinset": row.place,
      "aria-expanded": isFolder ? String(row.isOpen) : null,
      "aria-selected": String(isShown),
      title: visible(row.path),
      "aria-label": [
        name,
        entry.git && gitWords(entry.git),
        entry.focus && t("In focus"),
        notes && t("Note: {note}", { note: notes }),
      ]
        .filter(Boolean)
        .join(", "),
    },
    isFolder ? icon("chevron", row.isOpen ? "turn open" : "turn") : h("span", { class: "no-turn" }),
    icon(isFolder ? "folder" : entry.kind === "link" ? "link" : "file", "kind"),
    h("span", { class: "name", text: name }),
    row.isFound && h("span", { class: "where", text: visible(folderOf(row.path)) }),
    row.isLoading && h("span", { class: "spinner" }),
    h("span", { class: "marks", "aria-hidden": "true" }, ...marks),
  );
  element.style.setProperty("--depth", String(row.depth - 1));
  return element;
}

/** A row of a part of its folder that is still to come. */
function unknownRow(row) {
  const element = h("div", {
    class: "node",
    role: "treeitem",
    data: { path: "" },
    "aria-level": row.depth,
    "aria-setsize": row.siblings,
    "aria-posinset": row.place,
    "aria-label": t("Loading…"),
  });
  element.style.setProperty("--depth", String(row.depth - 1));
  return element;
}

function gitWords(badge) {
  const words = {
    M: t("modified"),
    A: t("added"),
    D: t("deleted"),
    R: t("renamed"),
    U: t("in conflict"),
    "?": t("not tracked"),
  };
  return words[badge] ?? badge;
}
