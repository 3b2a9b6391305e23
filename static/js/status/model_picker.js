// The choice of a model, by what each costs and can do.

import { button, h } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { t } from "../i18n/translate.js";
import { api } from "../net/api.js";
import { openDialog } from "../dialogs/dialog.js";
import { choosingList } from "../search/choosing_list.js";

/** @param {import("../app.js").App} app */
export async function openModelPicker(app) {
  const session = await app.sessionIsThere();
  const now = app.state.sessionState?.model ?? "";
  let known = [{ name: now }];
  const list = choosingList({
    name: t("Find a model"),
    none: t("No model has that name. Enter uses it anyway."),
    find: (words) => known.filter(({ name }) => name.toLowerCase().includes(words.toLowerCase())),
    draw: (model) => [h("b", { text: model.name }), h("span", { class: "muted", text: facts(model, now) })],
    choose: (model, words) => use(model?.name ?? words),
  });
  const waiting = h("p", { class: "muted", role: "status", text: t("Asking the servers for their models …") });
  const more = button(
    { class: "quiet small", on: { click: () => openServer() } },
    t("What its server accepts"),
  );
  const dialog = openDialog(t("Model"), "sheet palette", [list.field, list.element, waiting, more]);
  list.field.focus();
  const told = await app.attempt(() => api.models(session));
  if (told) known = told.known;
  waiting.remove();
  list.search();

  async function use(model) {
    if (!model.trim()) return;
    dialog.close();
    const changed = await app.attempt(() => api.changeModel(session, { model: model.trim() }));
    if (changed) app.notice(t("The model is {name}.", { name: changed.model }));
  }

  async function openServer() {
    dialog.close();
    const { openModelSheet } = await import("./model_sheet.js");
    await openModelSheet(app);
  }
}

function facts({ name, price, window, pictures, thinking }, now) {
  const dollars = (amount) => `$${Number(amount.toPrecision(3))}`;
  return [
    name === now && t("in use"),
    price
      ? t("in {input}, cached {cached}, out {output} per million tokens", {
          input: dollars(price.miss),
          cached: dollars(price.hit),
          output: dollars(price.output),
        })
      : t("price unknown"),
    window && t("window {tokens}", { tokens: count(window) }),
    pictures && t("sees pictures"),
    thinking && t("thinks"),
  ]
    .filter(Boolean)
    .join(" · ");
}
