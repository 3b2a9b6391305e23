// What is the same for every question: it takes no answer at once, and only one.

import { t } from "../i18n/translate.js";

const ARMED_AFTER = 300; // ms, so that a key meant for something else answers nothing

/** Base of the cards of questions; each sets its `element`. */
export class Answering {
  constructor(item, app) {
    this.item = item;
    this.app = app;
    this.isArmed = false;
    this.isAnswered = false;
    setTimeout(() => this.arm(), ARMED_AFTER);
  }

  /** Takes answers from now on. */
  arm() {
    this.isArmed = true;
  }

  async answer(reply) {
    if (!this.isArmed || this.isAnswered) return;
    this.isAnswered = true;
    this.element.classList.add("answered");
    // With the key it answers this question, and no later one about the same call.
    const ack = await this.app.answer(this.item.id, { key: this.item.question.key, ...reply });
    if (ack && !ack.won) this.app.notice(t("Already answered on another screen."));
    if (!ack) {
      this.isAnswered = false;
      this.element.classList.remove("answered");
    }
  }
}
