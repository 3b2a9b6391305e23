// Ctrl+P: open a file by a part of its name.

import { h } from "../lib/dom.js";
import { folderOf, nameOf, visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";
import { openDialog } from "../dialogs/dialog.js";
import { choosingList } from "./choosing_list.js";
import { findPlaces } from "./find_places.js";

const MOST = 50;

/** @param {import("../app.js").App} app @returns {HTMLInputElement} the field for the name */
export function openQuickly(app) {
  app.finder.forget(); // what came since nobody looked is to be found, too
  const list = choosingList({
    name: t("File name"),
    none: t("Nothing found."),
    find: async (words) => (await app.attempt(() => findPlaces(app.finder, words, MOST))) ?? [],
    draw: ({ path, line }) => [
      h("b", { text: visible(nameOf(path)) + (line ? `:${line}` : "") }),
      h("span", { class: "muted", text: visible(folderOf(path)) }),
    ],
    choose: (found) => {
      if (!found) return;
      dialog.close();
      app.emit("open", { ...found, isEntered: true });
    },
  });
  const dialog = openDialog(t("Open a file"), "sheet palette", [list.field, list.element]);
  list.field.focus();
  return list.field;
}
