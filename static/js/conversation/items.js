// The items of the conversation beside calls: messages, thoughts, groups, endings.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { count, legible, money } from "../lib/format.js";
import { duration } from "../lib/time.js";
import { copyButton } from "../markdown/code_block.js";
import { markdownReady } from "../markdown/markdown.js";
import { MarkdownWriter } from "../markdown/writer.js";
import { say, t } from "../i18n/translate.js";
import { linkCitations, sources } from "./citations.js";
import { explored } from "./grouping.js";
import { receiptList } from "./receipts.js";
import { callView } from "../cards/call.js";
import { drawCard } from "../cards/cards.js";
import { UndoButton } from "../cards/undo_button.js";
import { userMessage } from "./user_message.js";

/** @typedef {import("../cards/cards.js").Host & {resend?: (turn: number, text: string, pictures?: any[]) => void, pictureAddress?: (digest: string) => string, fork?: (turn: number) => void, send?: (text: string) => void, app?: import("../app.js").App}} Host */

const VIEWS = {
  person: userMessage,
  text: textView,
  thinking: thinkingView,
  call: callView,
  group: groupView,
  retry: retryView,
  waiting: waitingView,
  thought: thoughtView,
  warning: warningView,
  info: infoView,
  command: commandView,
  end: endView,
};

export { chunkList } from "./chunks.js";
export { shown, stable } from "./grouping.js";
export { workingWords } from "./working.js";

/** The kinds of items the page can show. */
export const ITEMS = Object.keys(VIEWS);

/** Resolves when replies can be drawn as they will stay, or never could. */
export const itemsReady = markdownReady().catch(() => null);

/**
 * Opens the places that are named in *log*, and sees to it that a change stands once: there, or in
 * the list of changes beside it.
 */
export function followPlaces(app, log) {
  // Before a reply does: a program names a file by its whole path, or from where it runs.
  log.addEventListener(
    "click",
    (event) => {
      const place = event.target.closest("a[data-path]");
      if (!place) return;
      event.preventDefault();
      event.stopPropagation();
      const root = `${app.state.status?.root}/`; // a link of Markdown has lost its first slash
      const whole = `${place.dataset.path.startsWith("/") ? "" : "/"}${place.dataset.path}`;
      const path = (whole.startsWith(root) ? whole.slice(root.length) : place.dataset.path).replace(/^(\.\/)+/, "");
      app.emit("open", { path, line: Number(place.dataset.line) || undefined });
    },
    { capture: true },
  );
  const look = () => {
    for (const call of log.querySelectorAll(".call[data-kind=diff]")) call.dispatchEvent(new Event("beside"));
  };
  for (const name of ["watch", "shown", "opened", "pane"]) app.on(name, () => queueMicrotask(look));
}

/** @param {any} item @param {Host} host */
export const itemView = (item, host) => VIEWS[item.kind](item, host);

function textView(item, host) {
  const writer = new MarkdownWriter((path, line) => host.openFile(path, line));
  const element = h("article", { class: "reply", "aria-label": "Onefold" }, writer.element);
  let shown = null;
  const update = (changed) => {
    if (changed.sources && !shown?.sources) linkCitations(writer.element, changed.sources);
    shown = changed;
    writer.write(changed.text, changed.done);
    if (changed.done && !element.querySelector(":scope > .actions")) {
      element.append(
        h(
          "div",
          { class: "actions" },
          copyButton(() => shown.text),
        ),
      );
    }
  };
  update(item);
  return { element, update };
}

function thinkingView(item) {
  const summary = h("summary", {});
  const text = h("div", { class: "thinking-text" });
  const element = h("details", { class: "thinking" }, summary, text);
  let drawn = 0;
  let shown = item;
  const draw = () => {
    if (!element.open) return;
    const more = shown.text.slice(drawn);
    if (more) text.append(document.createTextNode(legible(more)));
    drawn = shown.text.length;
  };
  const update = (changed) => {
    shown = changed;
    const isOver = changed.seconds !== null;
    element.classList.toggle("running", !isOver);
    const words = !isOver
      ? t("Thinking")
      : changed.seconds
        ? t("Thought for {time}", { time: duration(changed.seconds) })
        : t("Thinking");
    if (summary.dataset.words !== words)
      summary.replaceChildren(
        isOver ? icon("brain") : h("span", { class: "spinner" }),
        words,
        icon("chevron", "turn"),
      );
    summary.dataset.words = words;
    draw();
  };
  element.addEventListener("toggle", draw);
  update(item);
  return { element, update };
}

function groupView(group, host) {
  const words = h("span", { class: "verb" });
  const sign = h("span", { class: "sign" });
  const list = h("div", { class: "group-calls" });
  const calls = keyed(
    list,
    (call) => call.key,
    (call) => callView(call, host),
  );
  let choice = false;
  const head = button(
    {
      class: "head",
      "aria-expanded": "false",
      on: {
        click: () => {
          choice = !choice;
          update(group);
        },
      },
    },
    icon("eye", "what"),
    words,
    h("span", { class: "meta" }),
    sign,
  );
  const element = h("div", { class: "group" }, h("div", { class: "row" }, head), list);
  function update(changed) {
    group = changed;
    const isSingle = group.calls.length === 1;
    element.classList.toggle("single", isSingle);
    head.parentElement.hidden = isSingle;
    list.hidden = !isSingle && !choice;
    head.setAttribute("aria-expanded", String(choice));
    retext(words, groupWords(group.calls));
    const isRunning = group.calls.some((call) => call.state === "running");
    if (sign.dataset.running !== String(isRunning))
      sign.replaceChildren(isRunning ? h("span", { class: "spinner" }) : icon("check"));
    sign.dataset.running = String(isRunning);
    calls(group.calls);
  }
  update(group);
  return { element, update };
}

function groupWords(calls) {
  const { files, searches, folders } = explored(calls);
  const parts = [
    files && (files === 1 ? t("1 file") : t("{n:,} files", { n: files })),
    searches && (searches === 1 ? t("1 search") : t("{n} searches", { n: searches })),
    folders && (folders === 1 ? t("1 folder") : t("{n} folders", { n: folders })),
  ].filter(Boolean);
  return t("Explored {what}", { what: parts.join(t(", ")) });
}

function retryView(item) {
  const reason = say(item.reason).replace(/[.。]$/, "");
  const words = t("Retrying in {time} (attempt {n})", { time: duration(item.seconds), n: item.attempt });
  return { element: h("p", { class: "remark" }, icon("refresh"), `${reason} · ${words}`) };
}

function waitingView(item) {
  const words = h("span", {});
  const element = h("p", { class: "remark waiting" }, icon("moon"), words);
  const tick = () => {
    const left = Math.max(0, item.until - Date.now() / 1000);
    retext(words, `${say(item.why)} · ${t("{time} left", { time: duration(left) })}`);
    if (left && (element.isConnected || !wasShown)) setTimeout(tick, 1000);
    wasShown ||= element.isConnected;
  };
  let wasShown = false;
  tick();
  return { element };
}

function thoughtView(item) {
  return {
    element: h(
      "details",
      { class: "thinking" },
      h("summary", {}, icon("brain"), t("Earlier conclusion reused"), icon("chevron", "turn")),
      h("div", { class: "thinking-text", text: item.text }),
    ),
  };
}

function warningView(item) {
  return { element: h("p", { class: "remark warning" }, icon("alert"), say(item.what)) };
}

/** What it proposes is one press away. */
function infoView(item, host) {
  const element = h("p", { class: "remark" }, say(item.what));
  if (item.command && host.send) {
    const propose = { class: "quiet small", on: { click: () => host.send(item.command) } };
    element.append(" ", button(propose, h("code", { text: item.command })));
  }
  return { element };
}

/** What a command answers; one that opens a sheet and says nothing leaves nothing. */
function commandView(item, host) {
  if (item.ok && !item.card) return { element: h("span", { hidden: true }) };
  return {
    element: h(
      "article",
      { class: `command ${item.ok ? "" : "bad"}`, "aria-label": item.command },
      h(
        "p",
        { class: "command-name" },
        icon(item.ok ? "terminal" : "alert"),
        h("code", { text: item.command }),
      ),
      item.card ? drawCard(item.card, host) : null,
    ),
  };
}

const written = (n) => (n === 1 ? t("1 token of output") : t("{n:,} tokens of output", { n: count(n) }));

const cost = (dollars, yuan) =>
  yuan ? `${money(dollars)} (¥${(dollars * yuan).toFixed(4)})` : money(dollars);

const WHYS = {
  done: () => "",
  stopped: () => t("Stopped"),
  step_limit: () => t("Step limit reached"),
  budget: () => t("Budget reached"),
  error: () => t("Failed"),
  interrupted: () => t("Interrupted"),
};

function endView(item, host) {
  const usage = item.usage ?? {};
  const facts = [
    item.turn ? t("turn {n}", { n: item.turn }) : "",
    item.seconds ? duration(item.seconds) : "",
    usage.completion_tokens ? written(usage.completion_tokens) : "",
    usage.cost_usd ? cost(usage.cost_usd, host.app?.state.sessionState?.yuan) : "",
  ]
    .filter(Boolean)
    .join(" · ");
  const undo = new UndoButton("turn", host);
  const goOn = item.why !== "done" && host.send && goOnButton(item, host);
  const update = ({ undoable, turn, isPast = false }) => {
    undo.update(undoable, t("turn {n}", { n: turn }));
    if (goOn) goOn.hidden = isPast;
  };
  update(item);
  const stillOpen = item.stillOpen && h("p", { class: "muted", text: say(item.stillOpen) });
  const read = sources(item);
  const proof = receiptList(item, host);
  const element =
    item.why === "done"
      ? h(
          "footer",
          { class: "end" },
          read,
          proof,
          stillOpen,
          facts && h("span", { class: "muted", text: facts }),
          undo.element,
          forkButton(item, host),
        )
      : h(
          "footer",
          { class: `end ${item.why}` },
          h(
            "p",
            {},
            icon(item.why === "stopped" ? "stop" : "alert"),
            h("b", { text: WHYS[item.why]?.() ?? item.why }),
            item.detail && item.why !== "stopped" ? ` ${say(item.detail)}` : "",
          ),
          read,
          proof,
          stillOpen,
          h("div", { class: "buttons" }, undo.element, forkButton(item, host), goOn),
        );
  return { element, update };
}

function goOnButton(item, host) {
  const hasFailed = item.why === "error";
  const work = async () => {
    element.disabled = true;
    try {
      await host.send(t("Continue."));
    } finally {
      element.disabled = false;
    }
  };
  const element = button(
    { class: "small", on: { click: work } },
    icon(hasFailed ? "refresh" : "play"),
    hasFailed ? t("Try again") : t("Continue"),
  );
  return element;
}

function forkButton(item, host) {
  return host.fork && item.turn
    ? button(
        {
          class: "quiet tiny",
          title: t("Fork from here"),
          "aria-label": t("Fork from here"),
          on: { click: () => host.fork(item.turn) },
        },
        icon("fork"),
      )
    : null;
}
