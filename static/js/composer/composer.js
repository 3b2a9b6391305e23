// The composer: sending, queueing, completing, dropping files; the draft is kept.

import { button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { size } from "../lib/format.js";
import { remember, remembered } from "../lib/storage.js";
import { fromServer } from "../net/api.js";
import { say, t } from "../i18n/translate.js";
import { keyOf, keysNow } from "../keyboard/shortcuts.js";
import { lineOf } from "../store/declared.js";
import { mention } from "./mentions.js";
import { Completion } from "./completion.js";

const FRAME = 1000; // bytes that a message has beside its text

/** @param {import("../app.js").App} app */
export function composer(app) {
  const area = h("textarea", {
    rows: 1,
    "aria-label": t("Message"),
    placeholder: t("Ask for something, / commands, @ files"),
    enterkeyhint: "send",
    dir: "auto",
  });
  const send = h(
    "button",
    { type: "submit", class: "primary send", title: t("Send"), "aria-label": t("Send"), disabled: true },
    icon("send"),
  );
  const stop = button(
    { class: "stop", title: t("Stop (Esc)"), "aria-label": t("Stop"), hidden: true, on: { click: app.stop } },
    icon("stop"),
    h("span", { text: t("Stop") }),
  );
  const model = button({
    class: "quiet model-choice",
    title: t("Choose the model"),
    on: { click: () => import("../status/model_picker.js").then(({ openModelPicker }) => openModelPicker(app)) },
  });
  const completion = new Completion(app, area);
  const queue = queuePlace(app);
  const files = h("input", {
    type: "file",
    multiple: true,
    class: "offscreen",
    tabIndex: -1,
    "aria-hidden": "true",
  });
  const attach = button(
    {
      class: "quiet",
      title: t("Upload files"),
      "aria-label": t("Upload files"),
      on: { click: () => files.click() },
    },
    icon("upload"),
  );
  /** @type {import("./attachments.js").Attachments | null} there once a picture was attached */
  let attached = null;
  /** @type {Promise<void> | null} one for all, so that what is given first comes first */
  let arriving = null;
  let awaiting = 0;
  const isBusy = () => awaiting || attached?.isBusy;
  const thumbnails = h("div", {});
  const cost = h("div", { role: "status" });
  const form = h(
    "form",
    { class: "composer" },
    completion.element,
    queue.element,
    thumbnails,
    area,
    cost,
    h(
      "div",
      { class: "composer-row" },
      attach,
      files,
      modeButton(app),
      approvalButton(app),
      model,
      h("span", { class: "gap" }),
      stop,
      send,
    ),
  );

  let session = ""; // "" while none is open: what is typed then goes into the next one
  app.on("session", (opened) => {
    const isWritten = !session && area.value;
    session = opened;
    if (isWritten) remember(`draft.${session}`, area.value);
    else area.value = remembered(`draft.${session}`) ?? "";
    if (attached || remembered(`pictures.${session}`)) withPictures((shown) => shown.enter(session));
    resize();
  });
  app.subscribe((state) => {
    const isRunning = Boolean(state.sessionState?.running);
    stop.hidden = !isRunning;
    stop.disabled = Boolean(state.sessionState?.stopping);
    retext(model, state.sessionState?.practice ? "" : (state.sessionState?.model ?? ""));
    send.title = isRunning ? t("Queue for later ({key}: stop and send now)", { key: keysNow().send_now }) : t("Send");
    weigh();
    queue.update(state.sessionState);
  });

  function resize() {
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight + 2, Math.round(innerHeight * 0.4))}px`;
    weigh();
  }

  /** A message needs words or a picture, and waits for a picture that is on its way. */
  function weigh() {
    send.disabled = isBusy() || !(area.value.trim() || attached?.count);
  }

  /** Does something with the attached pictures, which most people never have. */
  async function withPictures(work) {
    awaiting += 1;
    weigh();
    arriving ??= import("./attachments.js").then(begin);
    try {
      await arriving;
      work(attached);
    } finally {
      if (!attached) arriving = null; // did not come, and is to be tried again
      awaiting -= 1;
      weigh();
    }
  }

  function begin({ Attachments }) {
    attached = new Attachments(app, weigh);
    thumbnails.append(attached.element);
    attached.enter(session);
  }

  function take(text) {
    area.value = area.value.trim() ? `${area.value}\n${text}` : blank(text) + text;
    area.dispatchEvent(new Event("input"));
    area.focus();
  }

  function submit(now = false) {
    const text = area.value.trimEnd().replace(/^\s+(?![!#＃])/, "");
    if (isBusy() || !(text || attached?.count) || isTooLong(text)) return;
    area.value = "";
    area.dispatchEvent(new Event("input"));
    completion.close();
    app.send(text, now, attached?.take());
  }

  /** The server would hang up on it. */
  function isTooLong(text) {
    const most = (app.state.status?.limits.message ?? Infinity) - FRAME;
    const bytes = new Blob([JSON.stringify(text)]).size;
    if (bytes <= most) return false;
    const values = { size: size(bytes), most: size(most) };
    app.notice(t("This message is too large ({size}; limit: {most}). Mention a file with @ instead.", values), true);
    return true;
  }

  area.addEventListener("input", () => {
    resize();
    if (session) remember(`draft.${session}`, area.value || null);
    completion.update();
    if (area.value.includes("@") || cost.firstChild) import("./mention_cost.js").then((one) => one.tell(area, cost));
  });
  area.addEventListener("blur", () => completion.close());
  area.addEventListener("keydown", (event) => pressed(event, { area, completion, submit, app }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  files.addEventListener("change", () => {
    addAndName([...files.files]);
    files.value = "";
  });
  // Only who types the "!" runs a command with it, and "#" remembers: pasted, they stand behind a blank.
  area.addEventListener("beforeinput", ({ inputType, data }) => {
    const at = area.selectionStart;
    if (/Paste|Drop/.test(inputType) && !area.value.slice(0, at).trim()) area.setRangeText(blank(data), 0, at, "end");
  });
  area.addEventListener("paste", (event) => {
    const pasted = pastedFiles(event.clipboardData);
    if (!pasted.length) return;
    event.preventDefault();
    addPastedFiles(pasted);
  });
  form.addEventListener("drop", (event) => {
    const given = [...(event.dataTransfer?.files ?? [])];
    if (!given.length || !given.every(isPicture)) return; // then they are named, see drag_and_drop.js
    event.preventDefault();
    withPictures((shown) => shown.add(given));
  });
  function addPastedFiles(pasted) {
    const pictures = pasted.filter(isPicture);
    if (pictures.length) withPictures((shown) => shown.addPasted(pictures));
    const others = pasted.filter((file) => !isPicture(file));
    if (others.length) addAndName(others);
  }
  async function addAndName(chosen) {
    const uploads = await app.attempt(() => fromServer(import("../tree/upload.js")));
    await uploads?.addAndName(app, chosen);
  }
  app.on("starting", (keepsText) => {
    if (keepsText) remember(`draft.${session}`, null);
    else if (session) area.value = ""; // what was written before the first session goes into it
    session = "";
    attached?.enter("");
    resize();
  });
  app.on("pictures", ({ session: of, pictures }) => withPictures((shown) => shown.put(of, pictures)));
  app.on("draft", take);
  app.on("mistyped", (text) => !area.value && /\s/.test(text) && take(text)); // a name that is wrong costs no other word
  app.on("mention", (path) => take(mention(path)));
  app.on("compose", () => {
    app.emit("chat"); // what is out of sight cannot have the focus
    area.focus();
  });
  return { element: form, area, focus: () => area.focus(), take };
}

/** @param {string | null} text */
const blank = (text) => (/^(?:!|[#＃].*\s*$)/.test(text ?? "") ? " " : "");

/** Tells whether a model could see *file*. @param {File} file */
const isPicture = (file) => /^image\/(png|jpeg|webp|gif)$/.test(file.type);

/** The files of the clipboard; an office program adds a picture to text, which stays text. */
function pastedFiles(data) {
  const isText = data.types.includes("text/plain") && data.types.includes("text/html");
  return isText ? [] : [...data.files];
}

/** Enter sends, but never while a Chinese word is being composed. */
function pressed(event, { area, completion, submit, app }) {
  if (event.isComposing || event.keyCode === 229) return;
  if (completion.isOpen && completes(event, completion)) return;
  const key = keyOf(event);
  const { send, send_now: now, newline } = keysNow();
  if (key === send || key === now) {
    event.preventDefault();
    submit(key === now);
  } else if (key === newline && !/^(Shift.)?Enter$/.test(key)) {
    event.preventDefault();
    document.execCommand("insertText", false, "\n"); // which Undo knows
  } else if (event.key === "ArrowUp" && !area.value && app.state.sessionState?.queue?.length) {
    event.preventDefault();
    const { id } = app.state.sessionState.queue.at(-1);
    import("./queue.js").then(({ takeBack }) => takeBack(app, id));
  } else if (event.key === "Escape" && app.state.sessionState?.running) {
    event.stopPropagation();
    if (!area.value || area.dataset.escaped) app.stop();
    area.dataset.escaped = "1";
    setTimeout(() => delete area.dataset.escaped, 1000);
  }
}

function completes(event, completion) {
  const moves = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in moves) completion.move(moves[event.key]);
  else if (
    event.key === "Tab" ||
    (event.key === "Enter" && !event.ctrlKey && !event.shiftKey && !isWhole(completion))
  )
    completion.take();
  else if (event.key === "Escape") completion.close();
  else return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** What may be meant as it stands is sent by Enter: a whole command or name, or no argument chosen. */
const isWhole = ({ isBehind, place, choices, wasMoved, written }) =>
  isBehind ||
  (!wasMoved && (place.kind === "argument" || choices.some(({ insert }) => insert.trim() === written)));

/** Where the messages that wait are shown, once there are some. */
function queuePlace(app) {
  const element = h("div", {});
  let isAsked = false;
  async function update(sessionState) {
    if (isAsked || !sessionState?.queue?.length) return;
    isAsked = true;
    try {
      const { queueView } = await import("./queue.js");
      element.append(queueView(app));
    } catch (problem) {
      isAsked = false; // the next change tries again
      throw problem;
    }
  }
  return { element, update };
}

function modeButton(app) {
  const mode = button({ class: "quiet small", on: { click: toggle } });
  async function toggle() {
    const answer = await app.aside(
      lineOf(app.state.sessionState?.mode === "think" ? "fast" : "think"),
    );
    if (answer?.done && answer.card.body) app.notice(say(answer.card.body));
  }
  app.subscribe(({ sessionState }) => {
    const words = sessionState?.mode === "think" ? t("Think") : t("Fast");
    // What the other mode costs, where that is known.
    mode.title = `${t("Click to switch the mode.")}\n${say(sessionState?.switch || "")}`;
    if (mode.dataset.words === words) return;
    mode.dataset.words = words;
    mode.replaceChildren(icon(sessionState?.mode === "think" ? "brain" : "play"), words);
  });
  return mode;
}

function approvalButton(app) {
  const options = { guarded: t("guarded"), ask: t("ask"), plan: t("plan"), "read-only": t("read-only"), all: t("never ask") };
  const kept = h("option", { value: "kept" }, t("Always allowed …"));
  const select = h(
    "select",
    { class: "quiet small", "aria-label": t("Approval mode"), title: t("What it asks about") },
    ...Object.entries(options).map(([value, words]) => h("option", { value }, words)),
    kept,
  );
  select.addEventListener("change", async () => {
    if (!kept.selected) return app.aside(lineOf("approval", select.value));
    select.value = app.state.sessionState?.approval ?? "guarded";
    const { openKeptSheet } = await import("../approval/kept_sheet.js");
    await openKeptSheet(app);
  });
  app.on("plan", () => {
    const { approval, after_plan } = app.state.sessionState ?? {};
    app.aside(lineOf("approval", approval === "plan" ? after_plan : "plan"));
  });
  app.subscribe(({ sessionState }) => {
    if (sessionState && select.value !== sessionState.approval) select.value = sessionState.approval;
  });
  return select;
}
