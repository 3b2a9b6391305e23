// The conversation: items in order, older turns on demand, and a scroll that never fights.

import { button, h, keyed, retext } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { api } from "../net/api.js";
import { AutoScroll } from "./auto_scroll.js";

const STILL = 2; // frames without a change, after which nothing moves any longer
const FRAMES = 8; // that are waited for at most

/** @param {import("../app.js").App} app */
export function conversation(app) {
  const host = {
    openFile: (path, line) => app.emit("open", { path, line }),
    resend: (turn, text, pictures) => app.fork(turn, text, pictures),
    pictureAddress: (digest) => api.pictureAddress(app.state.session, digest),
    fork: (turn) => app.fork(turn + 1, ""),
    send: (text) => app.send(text),
    undo: app.undo,
    app,
  };
  const older = button({ class: "older", hidden: true, on: { click: loadOlder } }, t("Show earlier turns"));
  const list = h("div", { class: "items" });
  const pending = h("div", { class: "pending" });
  const sent = keyed(
    pending,
    ({ cmd }) => cmd,
    ({ text, pictures = [] }) => {
      const said = [...pictures.map(({ name }) => name), text].filter(Boolean).join("\n");
      return { element: h("article", { class: "person sending" }, h("div", { class: "said", text: said })) };
    },
  );
  const working = h("p", { class: "working", hidden: true }, h("span", { class: "spinner" }), h("span", {}));
  const empty = h("div", { class: "empty", hidden: true });
  const content = h("div", { class: "column" }, older, empty, list, pending, working);
  const log = h(
    "div",
    { class: "log", role: "log", "aria-label": t("Conversation"), "aria-live": "off", tabIndex: 0 },
    content,
  );
  const pill = button({ class: "pill", hidden: true });
  const autoScroll = new AutoScroll(log, content, pill);
  const element = h("div", { class: "conversation" }, log, pill);

  let session = "";
  let isSettled = false;
  let groups = null;
  let drawn = null;
  let marks = null;
  let outbox = 0;
  let welcomed = ""; // what the welcome speaks of: the approval mode, and what is served here
  import("./items.js").then(async ({ chunkList, followPlaces, itemView, itemsReady, shown, stable, workingWords }) => {
    await itemsReady;
    followPlaces(app, log);
    const items = chunkList(list, (item) => itemView(item, host));
    begin(items, { shown, stable, workingWords });
  });

  const begin = (items, { shown, stable, workingWords }) =>
    app.subscribe((state) => {
      if (state.session !== session) {
        session = state.session;
        isSettled = false;
        autoScroll.toEnd();
      }
      if (state.transcript.items !== drawn || state.marks !== marks) {
        ({ marks } = state);
        drawn = state.transcript.items;
        groups = stable(groups, shown(drawn, marks));
        items(groups);
      }
      if (state.outbox.length > outbox) autoScroll.toEnd();
      outbox = state.outbox.length;
      sent(state.outbox.filter(({ text, pictures }) => pictures || !text.startsWith("/")));
      older.hidden = state.transcript.firstTurn <= 1;
      drawEmpty(state);
      drawWorking(state, workingWords(state));
      autoScroll.update(drawn.length);
      if (state.isReady && !isSettled) settle();
    });

  /** Shows a session only when its end is in its place: what is in sight stays where it is. */
  async function settle() {
    isSettled = true;
    list.classList.add("settling");
    let height = -1;
    for (let frame = 0, still = 0; frame < FRAMES && still < STILL; frame += 1) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      still = height === log.scrollHeight ? still + 1 : 0;
      height = log.scrollHeight;
    }
    list.classList.remove("settling");
  }

  async function drawWelcome() {
    const { welcome } = await import("./welcome.js"); // the first paint is there sooner without it
    empty.replaceChildren(welcome(app));
  }

  function drawEmpty(state) {
    const isEmpty = state.isReady && !state.transcript.items.length && !state.outbox.length;
    const isFresh = isEmpty && empty.hidden;
    const about = `${state.sessionState?.approval} ${Boolean(state.status)}`;
    if (isFresh || (isEmpty && about !== welcomed)) void drawWelcome();
    welcomed = about;
    empty.hidden = !isEmpty;
    if (isFresh) log.scrollTop = 0;
    content.classList.toggle("loading", !state.isReady);
  }

  function drawWorking(state, words) {
    working.hidden = !words;
    retext(working.lastElementChild, words);
    log.setAttribute("aria-busy", String(Boolean(state.sessionState?.running)));
  }

  async function loadOlder() {
    older.disabled = true;
    await autoScroll.keepingPlace(() => app.loadEarlier());
    older.disabled = false;
  }

  return { element, autoScroll, focus: () => log.focus() };
}
