// What of the project stands in the status bar: the undo of the last turn that changed files, and the
// branch, which is asked for and comes last: nothing that is there already moves for it.

import { attribute, button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/translate.js";
import { request } from "../net/api.js";

const PAUSE = 300; // ms in which more news may come

/** @param {import("../app.js").App} app @returns {Element[]} */
export const projectState = (app) => [lastUndo(app), branch(app)];

function branch(app) {
  const words = h("span", {});
  const title = t("Git: changes, commit and log");
  const element = button(
    { class: "quiet tiny branch", hidden: true, title, on: { click: () => app.emit("git") } },
    icon("fork"),
    words,
  );
  let timer = 0;
  let news = "";
  let name = "";
  const draw = (head) => {
    name = head;
    element.hidden = !name || !app.state.marksOf; // the undo beside it comes first
    retext(words, name);
    attribute(element, "aria-label", t("Branch {name}", { name }));
  };
  const look = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  };
  async function ask() {
    const { session } = app.state;
    if (document.hidden || !session) return;
    try {
      const { head } = await request("GET", `/api/sessions/${session}/git/head`);
      if (session === app.state.session) draw(head);
    } catch (refusal) {
      if (!refusal.phrase) throw refusal; // else the server is away, or the session is: the old one stays
    }
  }
  app.on("files", look);
  app.on("branch", draw);
  addEventListener("focus", look);
  app.subscribe(({ session, sessionState }) => {
    const now = `${session} ${sessionState?.boot} ${sessionState?.running}`;
    if (now !== news) look();
    news = now;
    draw(name);
  });
  return element;
}

function lastUndo(app) {
  let turn = 0;
  const element = button({ class: "quiet tiny last-undo", hidden: true, on: { click: undo } }, icon("undo"), t("Undo"));
  async function undo() {
    element.disabled = true;
    await app.undo("turn", turn);
    element.disabled = false;
  }
  app.subscribe(({ marks }) => {
    turn = Math.max(0, ...marks.filter((mark) => !mark.undone).map((mark) => mark.turn));
    element.hidden = !turn;
    const words = t("Undo the file changes of turn {n}", { n: turn });
    attribute(element, "title", words);
    attribute(element, "aria-label", words);
  });
  return element;
}
