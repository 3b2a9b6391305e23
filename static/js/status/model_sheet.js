// What the model's name in the status line opens: another model, and what its server takes.

import { button, h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { api, ApiError } from "../net/api.js";
import { confirmed, openDialog } from "../dialogs/dialog.js";

/** What each field of a server's profile means. @type {Record<string, () => string>} */
const MEANINGS = {
  protocol: () => t("How the model calls tools: natively, or in text blocks (VCP)"),
  window: () => t("Tokens of prompt and reply together"),
  max_output: () => t("Tokens of the longest reply"),
  output_limit: () => t("Name of the reply limit parameter"),
  pictures: () => t("Accepts pictures"),
  thinking: () => t("Supports DeepSeek's thinking switch"),
  reasoning_effort: () => t("Supports thinking effort"),
  reasoning_content: () => t("Accepts the thinking of earlier replies"),
  stream: () => t("Streams replies"),
  stream_options: () => t("Supports usage counts when streaming"),
  system_messages: () => t("Where system messages are allowed"),
  alternating: () => t("Roles must alternate"),
  parallel_calls: () => t("Several calls in one reply"),
  call_ids: () => t("Call ids"),
  call_content: () => t("Content sent with calls that have no text"),
  tool_messages: () => t("Accepts calls and results as messages"),
  tool_names: () => t("Needs the tool's name in a result"),
  tool_choice: () => t("Tool choice setting"),
  plain_schema: () => t("Needs plain descriptions of tools"),
  thinks_by: () => t("How to turn on Claude's thinking"),
  rests_by: () => t("How to turn off Claude's thinking"),
  signatures: () => t("Whether replies are returned with their signature"),
  cache_figures: () => t("Where it reports cache hits"),
  below_v1: () => t("The API is under /v1"),
  probed: () => t("Model information has been read"),
};

/** @param {import("../app.js").App} app */
export async function openModelSheet(app) {
  const session = await app.sessionIsThere();
  const first = await app.attempt(() => api.model(session));
  if (!first) return;
  const rows = h("ul", { class: "profile" });
  const names = h("datalist", { id: "model-names" });
  const name = h("input", { id: "model-name", value: first.model, list: names.id, required: true });
  const form = h(
    "form",
    {
      class: "row",
      on: {
        submit: (event) => {
          event.preventDefault();
          change({ model: name.value.trim() });
        },
      },
    },
    h("label", { for: name.id }, t("Model")),
    name,
    names,
    h("button", { type: "submit" }, t("Use this model")),
  );
  let changes = 0;
  const forget = button({ class: "small", on: { click: forgetAll } }, t("Forget what was learned"));
  openDialog(t("Model and server"), "sheet model-sheet", [
    form,
    h("p", {
      class: "muted",
      text: t("What its server supports. This is detected; change it only if it is wrong."),
    }),
    rows,
    h("div", { class: "buttons" }, forget),
  ]);
  draw(first);
  api
    .models(session)
    .then(({ models }) => names.replaceChildren(...models.map((value) => h("option", { value }))))
    .catch((refusal) => {
      if (!(refusal instanceof ApiError)) throw refusal; // else the name can be written all the same
    });

  function draw({ model, fields }) {
    name.value = model;
    rows.replaceChildren(...fields.map(row));
  }

  function row(field) {
    const id = `profile-${field.name}`;
    const control = field.choices.length ? choice(field) : number(field);
    control.id = id;
    control.addEventListener("change", () => change({ fields: { [field.name]: control.value } }, id));
    const isUsual = field.value === field.usual;
    return h(
      "li",
      { class: isUsual ? "" : "changed" },
      h("label", { for: id }, MEANINGS[field.name]?.(), h("code", { text: field.name })),
      control,
    );
  }

  /** Sends *wanted*; what the server then says is drawn, also where it refused. */
  async function change(wanted, focused = "") {
    const mine = (changes += 1);
    const told = await app.attempt(() => api.changeModel(session, wanted));
    const now = told ?? (await app.attempt(() => api.model(session)));
    if (now && mine === changes) draw(now); // else a later one has the say
    if (focused) document.getElementById(focused)?.focus();
    if (told && wanted.model) app.notice(t("Model: {name}.", { name: told.model }));
  }

  async function forgetAll() {
    if (!(await confirmed(t("Forget everything learned and set about this server?"), t("Forget")))) return;
    const told = await app.attempt(() => api.forgetProfile(session));
    if (told) draw(told);
  }
}

function choice({ value, usual, choices }) {
  const words = { yes: t("yes"), no: t("no"), "": t("not set") };
  const select = h(
    "select",
    {},
    ...choices.map((one) => {
      const shown = words[one] ?? one;
      return h("option", { value: one, text: one === usual ? t("{value} (default)", { value: shown }) : shown });
    }),
  );
  select.value = value;
  return select;
}

const number = ({ value }) =>
  h("input", {
    type: "number",
    min: 0,
    step: 1,
    value: value === "0" ? "" : value,
    placeholder: t("unknown"),
  });
