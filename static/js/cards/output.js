// The output of a program, in its colours; a megabyte costs no more than what is looked at.

import { button, h } from "../lib/dom.js";
import { overwritten, plain, spans } from "./ansi.js";
import { linkPlaces } from "../markdown/places.js";
import { t } from "../i18n/translate.js";

const BLOCK = 100; // lines that are laid out together

/**
 * @param {string} text
 * @param {{head?: number, tail?: number}} [options] lines shown while the middle is folded
 */
export function outputView(text, { head = 12, tail = 8 } = {}) {
  const lines = overwritten(text).replace(/\n$/, "").split("\n");
  const frame = h("div", { class: "output", tabIndex: 0, role: "group", "aria-label": t("Output") });
  const fold = () =>
    frame.replaceChildren(
      block(lines.slice(0, head)),
      unfolder(lines.length - head - tail, unfold),
      block(lines.slice(-tail)),
    );
  const unfold = () => frame.replaceChildren(...blocks(lines));
  if (lines.length > head + tail + 4) fold();
  else unfold();
  return frame;
}

function unfolder(count, unfold) {
  return button({ class: "more", on: { click: unfold } }, t("Show {n:,} more lines", { n: count }));
}

function blocks(lines) {
  const result = [];
  let style = plain();
  for (let at = 0; at < lines.length; at += BLOCK) {
    const drawn = styled(`${lines.slice(at, at + BLOCK).join("\n")}\n`, style);
    style = drawn.style;
    result.push(drawn.element);
  }
  return result;
}

const block = (lines) => styled(lines.join("\n"), plain()).element;

function styled(text, start) {
  const { spans: found, style } = spans(text, start);
  const nodes = found.map((span) =>
    span.classes ? h("span", { class: span.classes, text: span.text }) : span.text,
  );
  return { element: linkPlaces(h("pre", {}, ...nodes)), style };
}

/** The end of the output of a program that still runs. */
export class LiveOutput {
  static SHOWN = 200;
  #lines = 0;
  #counted = 0;

  constructor() {
    this.above = h("p", { class: "muted above", hidden: true });
    this.pre = h("pre", {});
    this.element = h(
      "div",
      { class: "output live", tabIndex: 0, role: "group", "aria-label": t("Output") },
      this.above,
      this.pre,
    );
    this.isFollowing = true;
    this.element.addEventListener(
      "scroll",
      () => {
        this.isFollowing = isAtEnd(this.element);
      },
      { passive: true },
    );
  }

  /** @param {{text: string, dropped: number}} output all of it, so far */
  update({ text, dropped }) {
    this.#count(text, dropped);
    const start = startOfLast(text, LiveOutput.SHOWN);
    const { spans: found } = spans(overwritten(text.slice(start)));
    this.pre.replaceChildren(
      ...found.map((span) =>
        span.classes ? h("span", { class: span.classes, text: span.text }) : span.text,
      ),
    );
    const hidden = Math.max(0, this.#lines - LiveOutput.SHOWN);
    this.above.hidden = hidden === 0;
    this.above.textContent = t("{n:,} lines above", { n: hidden });
    if (this.isFollowing) this.element.scrollTop = this.element.scrollHeight;
  }

  #count(text, dropped) {
    for (let at = Math.max(0, this.#counted - dropped); ;) {
      at = text.indexOf("\n", at);
      if (at < 0) break;
      this.#lines += 1;
      at += 1;
    }
    this.#counted = dropped + text.length;
  }
}

const isAtEnd = (frame) => frame.scrollHeight - frame.scrollTop - frame.clientHeight < 40;

/** @param {string} text @param {number} lines */
function startOfLast(text, lines) {
  let at = text.length;
  for (let count = 0; count <= lines && at > 0; count += 1) at = text.lastIndexOf("\n", at - 1);
  return Math.max(0, at + 1, text.length - 60_000);
}
