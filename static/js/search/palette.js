// Ctrl+P: open a file by a part of its name.

import { h } from "../lib/dom.js";
import { folderOf, nameOf, visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";
import { openDialog } from "../dialogs/dialog.js";

const MOST = 50;

/** @param {import("../app.js").App} app @returns {HTMLInputElement} the field for the name */
export function openQuickly(app) {
  const field = h("input", {
    type: "search",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "found-files",
    "aria-label": t("File name"),
    placeholder: t("File name"),
    spellcheck: "false",
  });
  const list = h("ul", { id: "found-files", role: "listbox", "aria-label": t("Files found") });
  const dialog = openDialog(t("Open a file"), "sheet palette", [field, list]);
  let found = [];
  let chosen = 0;
  const open = (path) => {
    dialog.close();
    app.emit("open", { path, isEntered: true });
  };
  const draw = () => {
    list.replaceChildren(
      ...found.map((path, index) =>
        h(
          "li",
          {
            role: "option",
            id: `found-${index}`,
            "aria-selected": String(index === chosen),
            on: { click: () => open(path) },
          },
          h("b", { text: visible(nameOf(path)) }),
          h("span", { class: "muted", text: visible(folderOf(path)) }),
        ),
      ),
    );
    if (found.length) field.setAttribute("aria-activedescendant", `found-${chosen}`);
    else field.removeAttribute("aria-activedescendant");
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  };
  let searches = 0;
  let searching = Promise.resolve();
  const search = async () => {
    const number = (searches += 1);
    const paths = await app.attempt(() => app.finder.find(field.value, MOST));
    if (number !== searches) return; // something else is wanted meanwhile
    found = paths ?? [];
    chosen = 0;
    draw();
  };
  const searchAnew = () => (searching = search());
  /** Opens what is chosen of what was found for the words as they are now. */
  const openChosen = async () => {
    for (let last = null; last !== searching;) await (last = searching);
    if (dialog.open && found[chosen]) open(found[chosen]);
  };
  field.addEventListener("input", searchAnew);
  field.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && found.length) {
      event.preventDefault();
      chosen = (chosen + by + found.length) % found.length;
      draw();
    }
    if (event.key === "Enter") {
      event.preventDefault();
      openChosen();
    }
  });
  field.focus();
  app.finder.forget(); // what came since nobody looked is to be found, too
  searchAnew();
  return field;
}
