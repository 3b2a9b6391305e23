// The board: what works in the project, what it does, asks and costs; stopped or opened from here.

import { button, h, move } from "../lib/dom.js";
import { money } from "../lib/format.js";
import { stylesReady } from "../lib/styles.js";
import { say, t } from "../i18n/translate.js";
import { api, ApiError, request } from "../net/api.js";
import { openDialog } from "../dialogs/dialog.js";
import { askedElsewhere } from "./asked_elsewhere.js";

const PAUSE = 2000; // ms between two looks: other processes work here too, and tell the page nothing

const KINDS = { session: () => t("session"), race: () => t("race"), racer: () => t("racer"), helper: () => t("helper") };

const STATES = {
  working: () => t("working"),
  checking: () => t("checking"),
  asking: () => t("asks"),
  waiting: () => t("waits for a choice"),
  idle: () => t("idle"),
};

/** @typedef {{id: string, kind: string, title: any, state: string, parent: string, doing: any, cost_usd: number, line: string, session: string, here: boolean}} Work */

/** @param {import("../app.js").App} app */
export async function openAgentsSheet(app) {
  await stylesReady(new URL("../../css/agents.css", import.meta.url).href);
  const session = await app.sessionIsThere();
  const list = h("ul", { class: "agents-list" });
  const told = h("p", { class: "muted", role: "status" });
  const dialog = openDialog(t("At work in this project"), "sheet agents-sheet", [list, told, starter(start)]);
  /** @type {Map<string, ReturnType<typeof agentRow>>} */
  const rows = new Map();
  let next = 0;
  /** @type {Awaited<ReturnType<typeof askedElsewhere>> | null} */
  let asked = null;
  let lastLook = 0; // an answer that comes after a later one's is out of date
  dialog.addEventListener("close", () => clearTimeout(next));
  await look();

  async function look() {
    clearTimeout(next);
    const mine = (lastLook += 1);
    try {
      const { work } = await request("GET", `/api/sessions/${session}/work`);
      if (mine === lastLook) draw(work);
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      told.textContent = say(refusal.phrase);
    }
    if (mine === lastLook && dialog.open) next = setTimeout(look, PAUSE);
  }

  /** @param {Work[]} work */
  function draw(work) {
    const focused = list.contains(document.activeElement) && document.activeElement;
    const ids = work.map(({ id }) => id);
    for (const id of [...rows.keys()].filter((id) => !ids.includes(id))) rows.delete(id);
    if (asked && !work.some(({ id, state }) => id === asked.work.id && state === "asking")) leave(asked);
    for (const one of work) {
      if (!rows.has(one.id)) rows.set(one.id, agentRow({ stop, open, answer }));
      rows.get(one.id).show(one, depthOf(one, work), app.state.session);
    }
    const elements = ids.flatMap((id) => [rows.get(id).element, ...(asked?.work.id === id ? [asked.element] : [])]);
    for (const other of [...list.children]) if (!elements.includes(other)) other.remove();
    for (const [n, one] of elements.entries()) {
      if (one !== list.children[n]) move(list, one, list.children[n] ?? null); // the others keep the focus
    }
    told.textContent = work.length ? "" : t("Nothing is at work in this project.");
    if (focused && !focused.checkVisibility()) refocus();
  }

  /** Has the focus stay in the board where what had it is gone. */
  function refocus() {
    dialog.querySelector(".agents-list button:not([hidden]), .agents-start input")?.focus();
  }

  /** @param {Work} work */
  async function stop({ id, session: where, here }) {
    const by = here ? where : session; // what another process does is reached from any session of ours
    await app.attempt(() => request("POST", `/api/sessions/${by}/work/stop`, { body: { what: id } }));
    await look();
  }

  /** @param {Work} work */
  function open({ session: where, line }) {
    dialog.close();
    app.openSession(where);
    if (line) app.send(line); // it waits for a choice, which nobody is asked for just now
  }

  /** Asks here what *work* asks in another process. @param {Work} work */
  async function answer(work) {
    if (asked) leave(asked);
    const shown = await app.attempt(() => askedElsewhere(app, session, work, () => leave(shown)));
    if (!shown) return look();
    if (asked) leave(asked); // a second press, meanwhile
    asked = shown;
    rows.get(work.id)?.element.after(shown.element);
    shown.element.focus();
  }

  /** Shows a question no longer. */
  function leave(shown) {
    if (asked === shown) asked = null;
    const { activeElement } = document;
    const hadFocus = activeElement === document.body || shown.element.contains(activeElement);
    shown.element.remove();
    if (hadFocus) refocus();
    look();
  }

  /** Has a new session do *task*, which is not shown for that; returns whether it begins. @param {string} task */
  async function start(task) {
    const row = await app.attempt(async () => {
      const begun = await api.newSession();
      await app.connection.say("send", { session: begun.id, cmd: crypto.randomUUID(), text: task, now: false });
      return begun;
    });
    await look();
    return Boolean(row);
  }
}

/** The line in which work is begun from here. @param {(task: string) => Promise<boolean>} start */
function starter(start) {
  const label = t("Task for a new session");
  const field = h("input", { "aria-label": label, placeholder: t("Task for a new session, or /race 3 TASK"), autocomplete: "off" });
  const element = h("form", { class: "agents-start" }, field, h("button", {}, t("Start")));
  let isStarting = false;
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    const task = field.value.trim();
    if (!task || isStarting) return;
    isStarting = true;
    try {
      if (await start(task)) field.value = "";
    } finally {
      isStarting = false;
    }
  });
  return element;
}

/** Whether it asks in another process: it is answered from here, without opening its session. @param {Work} work */
const isAskedElsewhere = (work) => work.state === "asking" && !work.here;

/** How many others of *all* it is part of. @param {Work} one @param {Work[]} all */
function depthOf(one, all) {
  const parent = all.find(({ id }) => id === one.parent);
  return parent ? 1 + depthOf(parent, all) : 0;
}

/** A row that shows, again and again, what one thing does. */
function agentRow({ stop, open, answer }) {
  /** @type {Work} */
  let work;
  const kind = h("span", { class: "muted" });
  const title = h("b", {});
  const state = h("span", { class: "state" });
  const doing = h("span", { class: "doing" });
  const cost = h("span", { class: "muted cost" });
  const stopper = button({ class: "small", on: { click: () => stop(work) } }, t("Stop"));
  const opener = button({ class: "small", on: { click: () => (isAskedElsewhere(work) ? answer(work) : open(work)) } });
  const element = h(
    "li",
    {},
    h("span", { class: "what" }, h("span", { class: "name" }, kind, " ", title), h("span", { class: "now" }, state, " ", doing, " ", cost)),
    opener,
    stopper,
  );
  return { element, show };

  /** @param {Work} told @param {number} depth @param {string} shown the session on the page */
  function show(told, depth, shown) {
    work = told;
    const needsYou = work.state === "asking" || work.state === "waiting";
    const name = say(work.title) || t("Untitled");
    Object.assign(element.dataset, { state: work.state, depth: String(depth) });
    retext(kind, work.id === shown ? t("{kind} (this one)", { kind: KINDS[work.kind]() }) : KINDS[work.kind]());
    retext(title, name);
    retext(state, STATES[work.state]());
    retext(doing, say(work.doing));
    retext(cost, money(work.cost_usd));
    retext(opener, needsYou ? t("Answer") : t("Open"));
    opener.setAttribute("aria-label", needsYou ? t("Answer {name}", { name }) : t("Open {name}", { name }));
    opener.classList.toggle("primary", needsYou);
    opener.hidden = work.session === shown ? !needsYou : work.kind !== "session" && !needsYou;
    stopper.setAttribute("aria-label", t("Stop {name}", { name }));
    // What asks inside a session ends with its answer; the session itself can be stopped meanwhile.
    const isStoppable = work.state === "working" || work.state === "checking" || (work.state === "asking" && work.kind === "session");
    stopper.hidden = !isStoppable;
  }
}

/** Leaves alone what is said already, or a reader of the screen would say it again. */
function retext(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
