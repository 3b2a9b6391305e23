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
  const left = place("--side-width");
  const right = place("--pane-width");
  import("./splitter.js").then(({ splitter }) => {
    splitter(left, t("Width of the file tree"), "--side-width", 180, 520, 1);
    splitter(right, t("Width of the pane"), "--pane-width", 300, 1100, -1);
  });
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
    paneTab = path && !path.startsWith("/") ? "files" : "changes"; // Git and its like begin with "/"
    draw();
  });
  app.on("opened", (count) => {
    if (openFiles && !count) isAsked = false;
    openFiles = count;
    draw();
  });
  app.subscribe((state) => {
    const isNow = Boolean(state.marks.length || state.sessionState?.todos?.length);
    if (isNow === isFilled || !state.marksOf) return;
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
  for (const name of ["chat", "draft", "mention", "asked"]) app.on(name, showChat);
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

/** The place of a line between columns, as wide as it was left; it can be moved once that is loaded. */
function place(property) {
  const width = Math.min(Number(remembered(property)), innerWidth * 0.6);
  if (width) document.documentElement.style.setProperty(property, `${Math.round(width)}px`);
  return h("div", { class: "splitter" });
}
