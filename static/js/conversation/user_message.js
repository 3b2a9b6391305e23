// A message of the person, which can be written anew: that goes on in a new session.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { copyButton } from "../markdown/code_block.js";
import { t } from "../i18n/translate.js";
import { pictureRow } from "./picture.js";

/** @param {any} item @param {import("./items.js").Host} host */
export function userMessage(item, host) {
  const text = h("div", { class: "said", text: item.text });
  text.hidden = !item.text;
  const shown = pictureRow(item.pictures, host.pictureAddress);
  const said = shown ? h("div", { class: "shown" }, shown, text) : text;
  const element = h("article", { class: "person", "aria-label": t("You") }, said);
  if (!host.resend || !item.turn) return { element };
  const words = t("Rewrite this in a new session");
  const edit = button(
    { class: "quiet tiny", title: words, "aria-label": words, on: { click: begin } },
    icon("edit"),
  );
  const copy = copyButton(() => item.text);
  const actions = h("div", { class: "actions" }, edit, copy);
  element.append(actions);
  function begin() {
    const form = editForm(item.text, (changed) => host.resend(item.turn, changed, item.pictures), end);
    element.replaceChildren(form);
    form.querySelector("textarea").focus();
  }
  function end() {
    element.replaceChildren(said, actions);
    edit.focus();
  }
  return { element };
}

function editForm(text, send, cancel) {
  const area = h("textarea", {
    value: text,
    rows: Math.min(12, text.split("\n").length + 1),
    "aria-label": t("Edit the message"),
    dir: "auto",
  });
  const form = h(
    "form",
    {
      class: "edit-message",
      on: {
        submit: (event) => {
          event.preventDefault();
          if (area.value.trim()) send(area.value);
        },
      },
    },
    area,
    h("p", { class: "muted", text: t("This continues in a new session; the current one stays unchanged.") }),
    h(
      "div",
      { class: "buttons" },
      button({ on: { click: cancel } }, t("Cancel")),
      h("button", { type: "submit", class: "primary" }, t("Send again")),
    ),
  );
  form.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || event.key !== "Escape") return;
    event.stopPropagation();
    cancel();
  });
  return form;
}
