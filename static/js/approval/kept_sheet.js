// What is always allowed, in this project or this session: shown, and taken back one by one.

import { button, h } from "../lib/dom.js";
import { say, t } from "../i18n/translate.js";
import { lineOf } from "../store/declared.js";
import { openDialog } from "../dialogs/dialog.js";

/** @param {import("../app.js").App} app */
export async function openKeptSheet(app) {
  const first = await rowsOf("list");
  if (!first) return;
  const list = h("ul", { class: "kept-list" });
  const none = h("p", { class: "muted", tabIndex: -1, text: t("Nothing is always allowed.") });
  openDialog(t("Always allowed"), "sheet kept-sheet", [list, none]);
  draw(first);

  /** The rows of `/approve list`, after *what*; null where that was refused. */
  async function rowsOf(what) {
    const ack = await app.aside(lineOf("approval", what));
    return ack?.done ? (ack.card.rows ?? []) : null;
  }

  function draw(rows) {
    none.hidden = rows.length > 0;
    list.replaceChildren(...rows.map(row));
  }

  function row([number, ...words], at) {
    const [what, howLong] = words.map(say);
    const takeBack = button(
      { class: "small", "aria-label": t("Take back {what}", { what }), on: { click: () => forget(words, at) } },
      t("Take back"),
    );
    return h(
      "li",
      { data: { number } },
      h("span", { class: "what" }, what, h("span", { class: "muted", text: howLong })),
      takeBack,
    );
  }

  /** Numbers move when another screen takes something back: it is found by its words again. */
  async function forget(words, at) {
    const now = await rowsOf("list");
    if (!now) return;
    const same = now.find(([, ...others]) => JSON.stringify(others) === JSON.stringify(words));
    const left = same ? await rowsOf(`forget ${same[0]}`) : now;
    if (!left) return;
    draw(left);
    (list.children[Math.min(at, left.length - 1)]?.querySelector("button") ?? none).focus();
  }
}
