// Notices: short ones in a corner, in the title and the icon, and for screen readers.

import { attribute, button, h, keyed } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { notify } from "./notifications.js";
import { say, t } from "../i18n/translate.js";
import { nameOfSession } from "../layout/top_bar.js";

/** @param {import("../app.js").App} app */
export function noticesView(app) {
  const said = h("div", { class: "offscreen", "aria-live": "polite" });
  const list = h("div", {
    class: "notices",
    role: "region",
    "aria-label": t("Notices"),
    "aria-live": "polite",
  });
  const notices = keyed(
    list,
    ({ id }) => String(id),
    (notice) => ({
      element: h(
        "div",
        { class: `notice ${notice.isBad ? "bad" : ""}` },
        icon(notice.isBad ? "alert" : "check"),
        h("span", { text: notice.text }),
        button(
          { class: "quiet tiny", "aria-label": t("Close"), on: { click: () => app.dismiss(notice.id) } },
          icon("close"),
        ),
      ),
    }),
  );
  const banner = h("div", { class: "banner", role: "alert", hidden: true });
  const favicon = document.querySelector("link[rel=icon]");
  app.subscribe((state) => {
    notices(state.notices);
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
    t("The server was restarted. Open its new login link in this browser; this page will then reconnect."),
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
