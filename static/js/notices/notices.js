// Notices: short ones in a corner, in the title and the icon, and for screen readers.

import { attribute, button, h, keyed } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { notify } from "./notifications.js";
import { say, t } from "../i18n/translate.js";
import { nameOfSession } from "../layout/top_bar.js";

/** What browsers say of a module that did not come. They ask for it anew when it is imported again. */
const NOT_LOADED = /dynamically imported module|Importing a module script failed/;

/** Says so when a script or a stylesheet did not come, whoever asked for it. @param {import("../app.js").App} app */
function sayWhatIsNotLoaded(app) {
  addEventListener("unhandledrejection", ({ reason }) => {
    if (reason instanceof Event || NOT_LOADED.test(reason?.message))
      app.notice(t("Not loaded: the server does not answer. Try again, or reload the page."), true);
  });
}

/** @param {import("../app.js").App} app */
export function noticesView(app) {
  sayWhatIsNotLoaded(app);
  const said = h("div", { class: "offscreen", "aria-live": "polite" });
  const list = h("div", {
    class: "notices",
    role: "region",
    "aria-label": t("Notices"),
    "aria-live": "polite",
  });
  let before = null; // what had the focus
  list.addEventListener("focusin", ({ relatedTarget }) => {
    if (!list.contains(relatedTarget)) before = relatedTarget;
  });
  // Who reads one, or goes to its button, is not to lose it.
  for (const moved of ["pointerenter", "pointerleave", "focusin", "focusout"])
    list.addEventListener(moved, () => app.holdNotices(list.matches(":hover, :focus-within")));
  /** Leaves the focus at another notice or where it was, before *element* goes. */
  function leave(element) {
    if (!element.contains(document.activeElement)) return;
    const other = [...list.children].find((each) => each !== element);
    const next = other?.querySelector("button") ?? before;
    if (next) next.focus();
    else app.emit("compose");
  }
  const notices = keyed(
    list,
    ({ id }) => String(id),
    (notice) => {
      const close = { class: "quiet tiny", "aria-label": t("Close"), on: { click: () => app.dismiss(notice.id) } };
      const element = h(
        "div",
        { class: `notice ${notice.isBad ? "bad" : ""}` },
        icon(notice.isBad ? "alert" : "check"),
        h("span", { text: notice.text }),
        button(close, icon("close")),
      );
      return { element, leave: () => leave(element) };
    },
  );
  const banner = h("div", { class: "banner", role: "alert", hidden: true });
  const favicon = document.querySelector("link[rel=icon]");
  app.subscribe((state) => {
    notices(state.notices);
    if (!state.notices.length) app.holdNotices(false); // what is gone tells of no pointer that leaves
    drawTitle(state, favicon);
    drawBanner(state, banner);
  });
  app.on("event", async (event) => {
    if (event.type !== "TurnFinished") return;
    const words = await lastWords(app.state.transcript.items);
    said.textContent = t("Answer finished: {text}", { text: words });
    notify(t("Finished: {title}", { title: nameOfSession(app.state) }), words.slice(0, 200));
  });
  app.on("asked", (question) => {
    said.textContent = t("Your answer is needed.");
    notify(t("Your answer is needed."), question.title);
  });
  return { element: h("div", {}, banner, list, said) };
}

function drawTitle(state, favicon) {
  const asks = Boolean(state.sessionState?.asked.length) || state.sessions.some((row) => row.asking);
  const mark = asks ? `● ${t("needs you")} – ` : state.sessionState?.running ? "… " : "";
  const title = `${mark}${nameOfSession(state)} – Onefold`;
  if (document.title !== title) document.title = title;
  attribute(favicon, "href", asks ? "/static/favicon-asks.svg" : "/static/favicon.svg");
}

const OUTSIDE = {
  denied: () =>
    t("This page is logged out: the server was restarted, or this device was removed. Open a new login link, or scan a new code."),
  keyless: () =>
    t("This page is logged out. Press Enter in Onefold's terminal, then open the new link in this browser."),
};

function drawBanner({ link, sessionState }, banner) {
  const held = () => `${t("This session is read-only until it is free.")} ${say(sessionState.held)}`;
  const words = OUTSIDE[link]?.() ?? (sessionState?.held ? held() : "");
  banner.hidden = !words;
  if (banner.textContent !== words) banner.textContent = words;
}

async function lastWords(items) {
  const { stripped } = await import("../cards/ansi.js"); // which is there, or there were no words
  const text = items.findLast((item) => item.kind === "text")?.text ?? "";
  return stripped(text).slice(0, 600);
}
