// Three columns, two, or one: where things stand at which width, and the splitters between them.

import { attribute, button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { remember, remembered } from "../lib/storage.js";
import { t } from "../i18n/translate.js";

const PHONE = matchMedia("(max-width: 720px)");
const OVERLAID = matchMedia("(max-width: 900px)"); // the pane lies over the conversation
const NARROW = matchMedia("(max-width: 1024px)"); // it is closed until it is asked for

/**
 * @param {import("../app.js").App} app
 * @param {Record<"topBar" | "side" | "chat" | "pane" | "status", HTMLElement>} parts
 */
export function layout(app, parts) {
  const { topBar, side, chat, pane, status } = parts;
  const left = splitter(app, t("Width of the file tree"), "--side-width", 180, 520, 1);
  const right = splitter(app, t("Width of the pane"), "--pane-width", 300, 1100, -1);
  const tabs = phoneTabs(app);
  const main = h("main", { class: "columns" }, side, left, chat, right, pane);
  const element = h("div", { class: "page" }, topBar, main, status, tabs.element);
  let isSideOpen = remembered("side") !== "0";
  let isPaneOpen = remembered("pane") !== "0" && !NARROW.matches;
  let isFilled = remembered("filled") === "1"; // the pane has something to show: as it was last, until it is known
  let isAsked = false; // the person wants to see it all the same
  let openFiles = 0;
  const isPaneShown = () => isPaneOpen && (isFilled || isAsked || openFiles > 0);
  let hasSession = false;
  let shown = "chat";
  let paneTab = "changes"; // or "files", while the pane shows one

  function draw() {
    const phone = PHONE.matches;
    element.classList.toggle("no-side", !phone && !isSideOpen);
    element.classList.toggle("no-pane", !phone && !isPaneShown());
    attribute(element, "data-shown", phone ? shown : null);
    tabs.update(shown === "changes" ? paneTab : shown);
    for (const [name, part] of Object.entries({ files: side, chat, changes: pane })) {
      part.inert = phone && shown !== name;
      attribute(part, "role", phone ? "tabpanel" : null);
      attribute(part, "aria-labelledby", phone ? `tab-${name === "changes" ? paneTab : name}` : null);
    }
  }
  app.on("side", (open) => {
    isSideOpen = open ?? !isSideOpen;
    remember("side", isSideOpen ? null : "0");
    draw();
  });
  app.on("pane", (open) => {
    isPaneOpen = isAsked = open ?? !isPaneShown();
    if (!NARROW.matches) remember("pane", isPaneOpen ? null : "0");
    if (PHONE.matches) shown = isPaneOpen ? "changes" : "chat";
    draw();
  });
  app.on("tab", (name) => {
    shown = name;
    if (name === "changes") app.emit("changes");
    draw();
  });
  app.on("shown", (path) => {
    paneTab = path ? "files" : "changes";
    draw();
  });
  app.on("opened", (count) => {
    if (openFiles && !count) isAsked = false;
    openFiles = count;
    draw();
  });
  app.subscribe(({ session, sessionState, marks, marksOf }) => {
    const isKnown = sessionState && (!sessionState.changes || marksOf === session);
    const isNow = isKnown ? Boolean(marks.length || sessionState.todos?.length) : isFilled;
    if (isNow === isFilled) return;
    isFilled = isNow;
    remember("filled", isFilled ? "1" : null);
    draw();
  });
  app.on("reveal", () => {
    if (PHONE.matches) shown = "files";
    else isSideOpen = true;
    draw();
  });
  app.on("asked", () => {
    if (PHONE.matches || !OVERLAID.matches || !isPaneShown()) return;
    if (pane.contains(document.activeElement)) app.notice(t("Your answer is needed."));
    else app.emit("pane", false);
  });
  function showChat() {
    if (!PHONE.matches) return;
    shown = "chat";
    draw();
  }
  for (const name of ["draft", "mention", "asked"]) app.on(name, showChat);
  app.on("session", () => {
    if (hasSession) showChat(); // the first one may come when the person is elsewhere already
    hasSession = true;
  });
  PHONE.addEventListener("change", draw);
  for (const width of [NARROW, OVERLAID])
    width.addEventListener("change", () => {
      isPaneOpen = !NARROW.matches && remembered("pane") !== "0";
      draw();
    });
  draw();
  return { element, isPhone: () => PHONE.matches, isOverlay: () => OVERLAID.matches && isPaneShown() };
}

function phoneTabs(app) {
  const names = {
    chat: ["chat", t("Chat")],
    files: ["folder", t("Files")],
    changes: ["changes", t("Changes")],
  };
  const tabs = Object.entries(names).map(([name, [picture, words]]) =>
    button(
      { role: "tab", id: `tab-${name}`, data: { name }, on: { click: () => app.emit("tab", name) } },
      icon(picture),
      words,
    ),
  );
  const element = h(
    "nav",
    { class: "phone-tabs" },
    h("div", { role: "tablist", "aria-label": t("Views") }, ...tabs),
  );
  element.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const at = (tabs.indexOf(document.activeElement) + by + tabs.length) % tabs.length;
    tabs[at].focus();
    app.emit("tab", tabs[at].dataset.name);
  });
  return {
    element,
    update(shown) {
      for (const tab of tabs) {
        tab.setAttribute("aria-selected", String(tab.dataset.name === shown));
        tab.tabIndex = tab.dataset.name === shown ? 0 : -1;
      }
    },
  };
}

/** A line between columns that is dragged, or moved by the arrow keys. */
function splitter(app, label, property, least, most, direction) {
  const root = document.documentElement;
  let width = Number(remembered(property)) || 0;
  const bar = h("div", {
    class: "splitter",
    role: "separator",
    tabIndex: 0,
    "aria-label": label,
    "aria-orientation": "vertical",
    "aria-valuemin": least,
    "aria-valuemax": most,
  });
  const set = (wanted) => {
    width = Math.round(Math.max(least, Math.min(most, wanted, innerWidth * 0.6)));
    root.style.setProperty(property, `${width}px`);
    bar.setAttribute("aria-valuenow", String(width));
  };
  const now = () =>
    width ||
    Math.round(
      (direction > 0 ? bar.previousElementSibling : bar.nextElementSibling).getBoundingClientRect().width,
    );
  if (width) set(width);
  else bar.setAttribute("aria-valuenow", String(least));
  bar.addEventListener("pointerdown", (event) => {
    const start = { x: event.clientX, width: now() };
    bar.setPointerCapture(event.pointerId);
    const move = (moved) => set(start.width + direction * (moved.clientX - start.x));
    bar.addEventListener("pointermove", move);
    bar.addEventListener(
      "pointerup",
      () => {
        bar.removeEventListener("pointermove", move);
        remember(property, String(width));
      },
      { once: true },
    );
  });
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 16, ArrowLeft: -16 }[event.key];
    if (!by) return;
    event.preventDefault();
    set(now() + direction * by);
    remember(property, String(width));
  });
  bar.addEventListener("dblclick", () => {
    width = 0;
    root.style.removeProperty(property);
    remember(property, null);
  });
  return bar;
}
