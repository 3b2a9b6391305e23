// The question above the composer: what is to be done, why it is asked, and the answers.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { drawCard } from "../cards/cards.js";
import { diffView } from "../cards/diff_view.js";
import { programBlock } from "../cards/program.js";
import { target, verb } from "../cards/verbs.js";
import { visible } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { Answering } from "./answering.js";
import { argumentsForm } from "./arguments_form.js";

/** The arguments that a person most likely wants to change. */
const TELLING = new Set(["command", "code", "content", "new", "new_path"]);

/** The words for yes and no, by what is at stake. */
const WORDS = {
  loop: {
    yes: () => t("Yes, continue"),
    no: () => t("No, stop here"),
    reason: () => t("What to do differently (optional)"),
  },
  loss: {
    yes: () => t("Yes, keep"),
    no: () => t("No, undo all"),
    reason: () => t("What to do instead (optional)"),
  },
  protected: {
    yes: () => t("Yes, keep"),
    no: () => t("No, undo all"),
    reason: () => t("What to do instead (optional)"),
  },
  call: { yes: () => t("Yes"), no: () => t("No"), reason: () => t("What to do instead (optional)") },
};

/** The worst that a call may do, in a word. */
const RISKS = {
  read: () => t("reads"),
  write: () => t("changes files"),
  run: () => t("runs a program"),
  network: () => t("uses the network"),
  destroy: () => t("deletes"),
  loop: () => t("going in circles"),
  loss: () => t("deleted many files"),
  protected: () => t("changed protected content"),
  told: () => t("sent to the model"),
};

/** A command of the project is asked about for the programs in it. */
const riskOf = ({ name, question: { risk } }) => (risk === "told" && name.startsWith("/") ? "run" : risk);

export class QuestionCard extends Answering {
  constructor(item, app, waiting) {
    super(item, app);
    const { question } = item;
    /** What is asked about: the call, or what the helper wants to do that it is. */
    this.asking = question.of ?? item;
    this.words = WORDS[question.risk] ?? WORDS.call;
    this.pattern = h("input", {
      value: visible(question.pattern),
      "aria-label": t("Pattern to always allow"),
      spellcheck: "false",
    });
    this.reason = h("input", {
      placeholder: this.words.reason(),
      "aria-label": t("Reason for refusing"),
      hidden: question.risk === "told", // nobody would hear it
    });
    this.buttons = this.#makeButtons();
    this.answers = h(
      "div",
      { class: "buttons" },
      this.buttons.y,
      this.buttons.a,
      this.buttons.f,
      this.buttons.n,
      this.reason,
      this.buttons.e,
    );
    this.asked = h(
      "div",
      { class: "asked-what", tabIndex: 0, role: "group", "aria-label": t("Preview") },
      drawPreview(question.preview, { openFile: (path, line) => app.emit("open", { path, line }) }),
    );
    this.patternRow =
      question.pattern &&
      h(
        "label",
        { class: "pattern" },
        h("span", { class: "muted", text: t("Always allow") }),
        this.pattern,
      );
    this.element = h(
      "div",
      { class: `approval ${question.risk}`, role: "group", "aria-label": t("Approval"), tabIndex: -1 },
      this.#head(waiting),
      h("p", { class: "why", text: say(question.why) }),
      this.asked,
      this.patternRow,
      this.answers,
    );
    this.reason.addEventListener("keydown", (event) => this.#enter(event, () => this.#no()));
    this.pattern.addEventListener("keydown", (event) => this.#enter(event, () => this.#always()));
    this.pattern.addEventListener("input", () => this.#offerLasting());
  }

  /** The subject of the question, in one line. */
  get title() {
    const { name, arguments: given } = this.asking;
    return `${verb(name)} ${visible(target(name, given))}`.trim();
  }

  /** Tells whether an answer was begun, and is not yet given. */
  get isBegun() {
    return !this.isAnswered && Boolean(this.reason.value || this.element.querySelector("form"));
  }

  #head(waiting) {
    const { item } = this;
    const { name, arguments: given } = this.asking;
    return h(
      "header",
      {},
      icon("alert"),
      h("strong", { text: verb(name) }),
      h("code", { text: visible(target(name, given)) }),
      h("span", { class: "risk", text: RISKS[riskOf(item)]?.() ?? item.question.risk }),
      waiting > 1 && h("span", { class: "muted", text: t("{n} questions waiting", { n: waiting }) }),
    );
  }

  /** `packages` is a pattern of its own (PACKAGES in core/loop/approval.py). */
  get #alwaysLabel() {
    const isForPackages = this.item.question.pattern === "packages";
    return isForPackages ? t("Yes, for this session: packages") : t("Always");
  }

  #makeButtons() {
    const { question } = this.item;
    const make = (className, work, ...words) =>
      button({ class: className, disabled: true, on: { click: work } }, ...words);
    const made = {
      y: make("primary", () => this.#yes(), this.words.yes()),
      a: question.pattern && make("", () => this.#always(), this.#alwaysLabel),
      f: question.may_last && make("", () => this.#lasting(), t("Always, in this project")),
      n: make("", () => this.#no(), this.words.no()),
      e: question.may_revise && make("quiet", () => this.#edit(), icon("edit"), t("Edit")),
    };
    for (const [letter, each] of Object.entries(made))
      if (each) each.setAttribute("aria-keyshortcuts", letter.toUpperCase());
    return made;
  }

  arm() {
    super.arm();
    for (const each of Object.values(this.buttons)) if (each) each.disabled = false;
    this.#offerLasting();
  }

  /** Only the pattern as it is may last (`check_lasting` in core/loop/approval_flow.py). */
  #offerLasting() {
    const { f } = this.buttons;
    if (f) f.disabled = !this.isArmed || this.#chosenPattern !== this.item.question.pattern;
  }

  #enter(event, answer) {
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    answer();
  }

  /** @param {string} letter @returns {boolean} whether it was an answer */
  key(letter) {
    const chosen = this.buttons[letter];
    if (this.answers.hidden) return true; // a form stands in their place
    if (!chosen || !this.isArmed) return Boolean(chosen);
    chosen.click();
    return true;
  }

  #yes = () => this.answer({ yes: true });
  #always = () =>
    this.answer({
      yes: true,
      always: true,
      pattern: this.#chosenPattern,
    });
  #lasting = () => this.answer({ yes: true, lasts: true, pattern: this.#chosenPattern });
  /** The pattern as it is, unless it was changed. */
  get #chosenPattern() {
    const { pattern } = this.item.question;
    const chosen = this.pattern.value.trim();
    return chosen === visible(pattern).trim() ? pattern : chosen || pattern;
  }
  #no = () => this.answer({ yes: false, reason: this.reason.value.trim() });

  /** Puts the arguments in the place of their preview, to be changed and run so. */
  #edit() {
    const rows = [this.asked, this.patternRow, this.answers].filter(Boolean);
    const form = argumentsForm(this.asking.arguments, {
      run: (given) => this.answer({ yes: true, arguments: given }),
      leave: () => {
        form.remove();
        for (const row of rows) row.hidden = false;
        this.buttons.e.focus();
      },
    });
    for (const row of rows) row.hidden = true;
    this.element.append(form);
    const areas = [...form.querySelectorAll("textarea")];
    (areas.find((area) => TELLING.has(area.getAttribute("aria-label"))) ?? areas[0]).focus();
  }
}

/**
 * Shows exactly what would be done: the program, the change, what would be gone.
 * @param {import("../cards/cards.js").Card} card @param {import("../cards/cards.js").Host} host
 */
export function drawPreview(card, host) {
  if (card.kind === "run") return programBlock(card.code, card.language);
  if (card.kind === "diff")
    return h(
      "div",
      {},
      say(card.note) && h("p", { class: "muted", text: say(card.note) }),
      card.diff && diffView(card.diff, { path: card.path, isWhole: true }),
    );
  return drawCard(card, host, typeof card.title === "string"); // else it says more than the head
}
