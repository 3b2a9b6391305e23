// Ctrl+P: open a file by a part of its name.

import { h } from "../lib/dom.js";
import { folderOf, nameOf, visible } from "../lib/format.js";
import { t } from "../lib/words.js";
import { api } from "../net/api.js";
import { matching } from "../state/matching.js";
import { openDialog } from "./dialog.js";

/** @param {import("../app.js").App} app */
export async function openQuickly(app) {
  const field = h("input", {
    type: "search",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "found-files",
    "aria-label": t("Name of a file"),
    placeholder: t("Name of a file"),
    spellcheck: "false",
  });
  const list = h("ul", { id: "found-files", role: "listbox", "aria-label": t("Files found") });
  const dialog = openDialog(t("Open a file"), "sheet palette", [field, list]);
  const answer = await app.attempt(() => api.files());
  const paths = answer?.files ?? [];
  let found = [];
  let chosen = 0;
  const open = (path) => {
    dialog.close();
    app.tell("open", { path });
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
  const search = () => {
    found = field.value.trim() ? matching(paths, field.value, 50) : paths.slice(0, 50);
    chosen = 0;
    draw();
  };
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && found.length) {
      event.preventDefault();
      chosen = (chosen + by + found.length) % found.length;
      draw();
    }
    if (event.key === "Escape") {
      event.preventDefault(); // or it would only empty the field
      dialog.close();
    }
    if (event.key === "Enter" && found[chosen]) {
      event.preventDefault();
      open(found[chosen]);
    }
  });
  field.focus();
  search();
}
