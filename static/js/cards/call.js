// One call: a head that says what is done to what and how it went; unfolded, what it printed or
// changed.

import { button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folderOf, nameOf, visible } from "../lib/format.js";
import { duration } from "../lib/time.js";
import { codeBlock } from "../markdown/code_block.js";
import { say, t } from "../i18n/translate.js";
import { drawCard, hasBody, summary } from "./cards.js";
import { LiveOutput } from "./output.js";
import { programBlock } from "./program.js";
import { UndoButton } from "./undo_button.js";
import { isKnown, pathOf, pictureOf, programOf, target, verb } from "./verbs.js";

const STATES = {
  running: () => t("running"),
  done: () => t("done"),
  failed: () => t("failed"),
  refused: () => t("refused"),
  stopped: () => t("interrupted"),
};
const SIGNS = { done: "check", failed: "alert", refused: "close", stopped: "stop" };
/** Begins the id of a call that a person made by a command: DIRECT_CALL in utils/llm/completion.py. */
const ASKED_BY_PERSON = "direct-";
const UNFOLDED = new Set(["diff", "run", "todo", "links", "result"]);

/** @param {any} item @param {import("./cards.js").Host} host */
export function callView(item, host) {
  return new CallView(item, host);
}

class CallView {
  /** What the person chose; null: nothing yet. */
  #choice = null;
  #live = null;

  constructor(item, host) {
    this.host = host;
    this.item = item;
    this.words = h("span", { class: "verb" });
    this.target = h("span", { class: "target" });
    this.meta = h("span", { class: "meta" });
    this.sign = h("span", { class: "sign" });
    this.head = button(
      { class: "head", "aria-expanded": "false", on: { click: () => this.#toggle() } },
      icon(pictureOf(item.name), "what"),
      this.words,
      this.target,
      this.meta,
      this.sign,
    );
    this.body = h("div", { class: "body" });
    const path = pathOf(item.name, item.arguments);
    this.open =
      path &&
      button(
        {
          class: "quiet tiny show",
          title: t("Show the file"),
          "aria-label": t("Show {path}", { path: visible(path) }),
          on: { click: () => host.openFile(path, item.arguments.start_line) },
        },
        icon("eye"),
      );
    this.undo = new UndoButton("call", host);
    this.element = h(
      "article",
      { class: "call", data: { call: item.id } },
      h("div", { class: "row" }, this.head, this.open || null, this.undo.element),
      this.body,
    );
    this.element.addEventListener("beside", () => this.#isOpen !== !this.body.hidden && this.#drawBody());
    this.update(item);
  }

  update(item) {
    const before = this.item;
    this.item = item;
    if (item.arguments !== before.arguments) this.#live = null;
    this.element.dataset.state = item.question ? "asked" : item.state;
    retext(this.words, verb(item.name));
    this.#drawTarget(visible(target(item.name, item.arguments) || asked(item)));
    this.undo.update(item.undoable, `${verb(item.name)} ${visible(target(item.name, item.arguments))}`);
    this.#drawMeta(item);
    if (item.state !== before.state || item.question !== before.question || !this.sign.firstChild)
      this.#drawSign(item);
    if (item.helper) import("../conversation/helper.js").then((helper) => helper.draw(this));
    if (item.state === "running" || before.card !== item.card || !this.drawn) this.#drawBody();
  }

  /** Whether the head says by itself what was done. */
  get #isSaid() {
    return this.item.state === "done" && isKnown(this.item.name);
  }

  /** A long path loses its beginning, not the name. */
  #drawTarget(words) {
    if (this.target.textContent === words) return;
    const folder = pathOf(this.item.name, this.item.arguments) ? folderOf(words) : "";
    this.target.replaceChildren(
      folder && h("span", { class: "folder", text: `${folder}/` }),
      folder ? h("span", { class: "name", text: nameOf(words) }) : words,
    );
  }

  #drawMeta(item) {
    const time = item.state !== "running" && item.seconds >= 0.05 ? duration(item.seconds) : "";
    const diff =
      item.card?.kind === "diff"
        ? [
            item.card.added ? h("span", { class: "plus", text: `+${item.card.added}` }) : "",
            item.card.removed ? h("span", { class: "minus", text: `−${item.card.removed}` }) : "",
          ]
        : [];
    const said = summary(item.card, this.#isSaid);
    this.meta.replaceChildren(
      item.isRevised ? h("span", { class: "revised", text: t("edited by you") }) : "",
      ...diff,
      said && h("span", { class: "said", text: said }),
      time && h("span", { class: "time", text: time }),
    );
  }

  #drawSign(item) {
    const word = item.question ? t("waiting for you") : STATES[item.state]();
    const picture = item.question
      ? icon("alert")
      : item.state === "running"
        ? h("span", { class: "spinner" })
        : icon(SIGNS[item.state]);
    this.sign.replaceChildren(picture, h("span", { class: "offscreen", text: word }));
    this.sign.title = word;
  }

  get #isOpen() {
    if (this.#choice !== null) return this.#choice;
    const { item } = this;
    if (item.state === "running") return Boolean(item.output.text);
    if (item.card?.kind === "diff" && this.host.app?.showsChange?.(item.card.path)) return false;
    if (item.id.startsWith(ASKED_BY_PERSON) && item.card?.kind === "text") return true; // nobody tells of it behind it
    if (item.name === "race" && item.card?.kind === "table") return true; // to choose by
    if (UNFOLDED.has(item.card?.kind) || item.card?.pictures?.length || item.card?.document) return true;
    return item.state !== "done" && hasBody(item.card);
  }

  #toggle() {
    this.#choice = !this.#isOpen;
    this.#drawBody();
  }

  #drawBody() {
    const { item } = this;
    const isOpen = this.#isOpen;
    this.drawn = true;
    this.head.setAttribute("aria-expanded", String(isOpen));
    // The program stands in full below: its beginning need not stand above.
    const isShown = item.state === "running" || !item.card || item.card.kind === "run";
    this.element.classList.toggle("spelled", isOpen && isShown && Boolean(programOf(item.name, item.arguments)));
    this.element.dataset.kind = item.card?.kind ?? "";
    this.body.hidden = !isOpen;
    if (!isOpen) {
      this.body.replaceChildren();
      this.#live = null;
    } else if (item.state === "running" || !item.card) this.#drawRunning(item);
    else {
      this.#live = null;
      this.body.replaceChildren(
        hasBody(item.card, this.#isSaid) ? drawCard(item.card, this.host, true) : given(item),
      );
    }
  }

  #drawRunning(item) {
    if (!this.#live) {
      this.#live = new LiveOutput();
      this.body.replaceChildren(given(item), this.#live.element);
    }
    this.#live.element.hidden = !item.output.text;
    this.#live.update(item.output);
  }
}

/** What the person is asked while that waits: a question of ours has no arguments. */
const asked = ({ question }) => (question?.risk === "question" ? say(question.why) : "");

/** What the call was given: its program, or all its arguments. */
function given({ name, arguments: all }) {
  const program = programOf(name, all);
  if (program) return programBlock(program.code, program.language);
  return Object.keys(all).length ? codeBlock(JSON.stringify(all, null, 2), "json") : "";
}
