// The question above the composer: what is to be done, why it is asked, and the answers.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { drawCard } from "../cards/cards.js";
import { codeBlock } from "../lib/code.js";
import { diffView } from "../cards/diffs.js";
import { target, verb } from "../cards/verbs.js";
import { visible } from "../lib/format.js";
import { say, t } from "../lib/words.js";

const ARMED_AFTER = 300; // ms, so that a key meant for something else answers nothing

export class QuestionCard {
  constructor(item, app, waiting) {
    this.item = item;
    this.app = app;
    this.isArmed = false;
    this.isAnswered = false;
    const { question } = item;
    this.pattern = h("input", {
      value: question.pattern,
      "aria-label": t("Pattern to allow from now on"),
      spellcheck: "false",
    });
    this.reason = h("input", {
      placeholder: t("What to do instead (optional)"),
      "aria-label": t("Reason for a no"),
    });
    this.buttons = {
      y: button({ class: "primary", disabled: true, on: { click: () => this.#yes() } }, t("Yes")),
      a: question.pattern && button({ disabled: true, on: { click: () => this.#always() } }, t("Always")),
      n: button({ disabled: true, on: { click: () => this.#no() } }, t("No")),
      e:
        this.#editable &&
        button(
          { class: "quiet", disabled: true, on: { click: () => this.#edit() } },
          icon("edit"),
          t("Edit"),
        ),
    };
    this.extra = h("div", { class: "extra", hidden: true });
    this.element = h(
      "div",
      { class: "approval", role: "group", "aria-label": t("Approval"), tabIndex: -1 },
      h(
        "header",
        {},
        icon("alert"),
        h("strong", { text: verb(item.name) }),
        h("code", { text: visible(target(item.name, item.arguments)) }),
        waiting > 1 && h("span", { class: "muted", text: t("{n} questions wait", { n: waiting }) }),
      ),
      h("p", { class: "why", text: say(question.why) }),
      h(
        "div",
        { class: "asked-what", tabIndex: 0, role: "group", "aria-label": t("Preview") },
        preview(item, app),
      ),
      question.pattern &&
        h(
          "label",
          { class: "pattern" },
          h("span", { class: "muted", text: t("Always allows") }),
          this.pattern,
        ),
      this.extra,
      h(
        "div",
        { class: "buttons" },
        this.buttons.y,
        this.buttons.a,
        this.buttons.n,
        this.reason,
        this.buttons.e,
      ),
    );
    this.reason.addEventListener("keydown", (event) => this.#enter(event, () => this.#no()));
    this.pattern.addEventListener("keydown", (event) => this.#enter(event, () => this.#always()));
    setTimeout(() => this.#arm(), ARMED_AFTER);
    for (const [letter, each] of Object.entries(this.buttons))
      if (each) each.setAttribute("aria-keyshortcuts", letter.toUpperCase());
  }

  get #code() {
    const { code, command } = this.item.arguments;
    return command ?? code ?? "";
  }

  get #editable() {
    return Boolean(this.#code);
  }

  #arm() {
    this.isArmed = true;
    for (const each of Object.values(this.buttons)) if (each) each.disabled = false;
  }

  #enter(event, answer) {
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    answer();
  }

  /** @param {string} letter @returns {boolean} whether it was an answer */
  key(letter) {
    const chosen = this.buttons[letter];
    if (!chosen || !this.isArmed) return Boolean(chosen);
    chosen.click();
    return true;
  }

  #yes = () => this.#answer({ yes: true });
  #always = () =>
    this.#answer({
      yes: true,
      always: true,
      pattern: this.pattern.value.trim() || this.item.question.pattern,
    });
  #no = () => this.#answer({ yes: false, reason: this.reason.value.trim() });

  async #answer(reply) {
    if (!this.isArmed || this.isAnswered) return;
    this.isAnswered = true;
    this.element.classList.add("answered");
    const ack = await this.app.answer(this.item.id, reply);
    if (ack && !ack.won) this.app.notice(t("Somebody else answered first."));
    if (!ack) {
      this.isAnswered = false;
      this.element.classList.remove("answered");
    }
  }

  /** The changed command goes to the model as a no with what to run instead. */
  #edit() {
    const area = h("textarea", {
      value: this.#code,
      rows: Math.min(12, this.#code.split("\n").length + 1),
      "aria-label": t("What to run instead"),
      spellcheck: "false",
    });
    const send = button(
      { class: "primary small", on: { click: () => this.#instead(area.value) } },
      t("Ask for this instead"),
    );
    this.extra.replaceChildren(
      area,
      h(
        "div",
        { class: "buttons" },
        send,
        h("span", { class: "muted", text: t("The model is told to run this in its place.") }),
      ),
    );
    this.extra.hidden = false;
    area.focus();
  }

  #instead(code) {
    this.#answer({ yes: false, reason: `Not this. Run this instead:\n${code}` });
  }
}

/** Shows exactly what would be done: the code, the edit, or the arguments. */
function preview(item, app) {
  const {
    arguments: given,
    question: { preview: card },
  } = item;
  const host = { openFile: (path, line) => app.tell("open", { path, line }) };
  if (card?.kind === "run") return codeBlock(card.code, card.language);
  if (card && card.kind !== "text") return drawCard(card, host);
  const edit = proposedEdit(given);
  if (edit) return diffView(edit, { path: given.path });
  return card ? drawCard(card, host) : codeBlock(JSON.stringify(given, null, 2), "json");
}

/** The edit that the arguments of a file tool describe, as a diff; "" if they describe none. */
function proposedEdit({ content, old, new: fresh, operation = "" }) {
  const lines = (sign, text) =>
    text
      ? text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => sign + line)
      : [];
  if (typeof content === "string") return lines("+", content).join("\n");
  if (!["replace", "append"].includes(operation)) return "";
  return [...lines("-", operation === "replace" ? old : ""), ...lines("+", fresh)].join("\n");
}
