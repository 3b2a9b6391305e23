// A question of the model's own above the composer: choices to pick, or words.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { visible } from "../lib/format.js";
import { say as sayIn } from "../i18n/phrases.js";
import { say, t } from "../i18n/translate.js";
import { drawCard } from "../cards/cards.js";
import { isAsking } from "../cards/verbs.js";
import { Answering } from "./answering.js";

export class QuestionCard extends Answering {
  constructor(item, app, waiting) {
    super(item, app);
    const { choices, why, preview } = item.question;
    const isOfModel = isAsking(item.name) && preview?.kind === "text"; // others, and one with a card, are questions of ours
    this.choices = choices.map((choice, index) =>
      button(
        {
          disabled: true,
          "aria-keyshortcuts": String(index + 1),
          on: { click: () => this.answer({ yes: true, text: sayIn(choice, {}) }) },
        },
        h("kbd", { text: String(index + 1) }),
        visible(say(choice)),
      ),
    );
    this.words = h("input", {
      "aria-label": t("Your answer"),
      placeholder: choices.length ? t("Or type your own answer") : t("Your answer"),
    });
    this.send = h("button", { type: "submit", class: "primary", disabled: true }, t("Answer"));
    this.none = button(
      { class: "quiet", disabled: true, on: { click: () => this.answer({ yes: false }) } },
      t("Skip"),
    );
    const form = h("form", { class: "buttons" }, this.words, this.send, this.none);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.words.value.trim();
      const picked = choices.find((choice) => say(choice).toLowerCase() === text.toLowerCase());
      if (text) this.answer({ yes: true, text: picked ? sayIn(picked, {}) : text });
      else this.words.focus();
    });
    this.element = h(
      "div",
      { class: "approval question", role: "group", "aria-label": t("Question"), tabIndex: -1 },
      h(
        "header",
        {},
        icon("chat"),
        h("strong", { text: isOfModel ? t("The model asks") : t("Question") }),
        waiting > 1 && h("span", { class: "muted", text: t("{n} questions waiting", { n: waiting }) }),
      ),
      h("p", { class: "why", text: say(why) }),
      preview && preview.kind !== "text" && h("div", { class: "asked-what", tabIndex: 0, role: "group", "aria-label": t("Preview") }, drawCard(preview, { openFile: (path, line) => app.emit("open", { path, line }) })),
      choices.length > 0 && h("div", { class: "choices" }, ...this.choices),
      form,
    );
  }

  /** The subject of the question, in one line. */
  get title() {
    return say(this.item.question.why);
  }

  /** Tells whether an answer was begun, and is not yet given. */
  get isBegun() {
    return !this.isAnswered && Boolean(this.words.value);
  }

  /** @param {string} letter @returns {boolean} whether it was an answer */
  key(letter) {
    const chosen = this.choices[Number(letter) - 1];
    if (chosen && this.isArmed) chosen.click();
    return Boolean(chosen);
  }

  arm() {
    super.arm();
    for (const each of [...this.choices, this.send, this.none]) each.disabled = false;
  }
}
