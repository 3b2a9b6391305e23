// The line at the top: where we are, other sessions, how the page looks and speaks.

import { button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { language, switchLanguage, t } from "../i18n/translate.js";
import { canNotify, notifies, switchNotify } from "../notices/notifications.js";
import { currentScheme, nextScheme } from "./color_scheme.js";
import { typedAhead } from "../keyboard/type_ahead.js";

const SCHEMES = {
  auto: ["system", () => t("Theme: system")],
  light: ["sun", () => t("Theme: light")],
  dark: ["moon", () => t("Theme: dark")],
  contrast: ["contrast", () => t("Theme: high contrast")],
};

/** @param {import("../app.js").App} app */
export function topBar(app) {
  const tool = (picture, words, work, more = {}) =>
    button(
      { class: "quiet", title: words, "aria-label": words, on: { click: work }, ...more },
      icon(picture),
    );
  const title = button({ class: "quiet title", title: t("Rename (F2)"), on: { click: () => rename() } });
  const badge = h("span", { class: "badge asks", hidden: true });
  const scheme = tool("system", "", () => app.emit("scheme", nextScheme()));
  const bell = tool("bell", "", () => switchBell(), { class: "quiet wide-only" });
  const project = h("span", { class: "project" });
  const where = h(
    "div",
    { class: "where early" },
    project,
    tool("menu", t("Sessions (Ctrl+Shift+F)"), () => app.emit("sessions")),
    h("h1", { class: "title-place" }, title),
    badge,
    tool("add", t("New session"), app.startSession),
  );
  const element = h(
    "header",
    { class: "topbar" },
    tool("sidebar", t("File tree (Ctrl+B)"), () => app.emit("side"), { class: "quiet wide-only" }),
    h(
      "a",
      {
        class: "brand",
        href: "/",
        "aria-label": "Onefold",
        on: {
          click: (event) => {
            event.preventDefault();
            app.emit("compose");
          },
        },
      },
      h("img", { src: "/static/mark.svg", alt: "", width: 20, height: 20 }),
      h("span", { text: "Onefold" }),
    ),
    where,
    h("span", { class: "gap" }),
    canNotify() && bell,
    scheme,
    button(
      {
        class: "quiet",
        lang: language === "zh" ? "en" : "zh-CN",
        "aria-label": language === "zh" ? "EN, English" : "中文",
        title: language === "zh" ? "English" : "中文",
        on: { click: () => switchLanguage(language === "zh" ? "en" : "zh") },
      },
      language === "zh" ? "EN" : "中",
    ),
    tool("keyboard", t("Keyboard shortcuts (?)"), () => app.emit("keys"), { class: "quiet wide-only" }),
    tool("panel", t("Changes and files (Ctrl+J)"), () => app.emit("pane"), { class: "quiet wide-only" }),
  );
  drawScheme();
  app.on("scheme", drawScheme);
  drawBell(notifies());
  app.on("rename", rename);

  app.subscribe(({ status, sessions, session, sessionState }) => {
    where.classList.toggle("early", !status);
    retext(project, status?.project ?? "");
    project.title = status?.root ?? "";
    retext(title, nameOfSession(app.state));
    const waiting = sessions.filter((row) => row.asking && row.id !== session).length;
    badge.hidden = !waiting;
    retext(badge, waiting === 1 ? t("1 needs you") : t("{n} need you", { n: waiting }));
    title.disabled = !sessionState;
  });

  function drawScheme() {
    const [picture, words] = SCHEMES[currentScheme()];
    scheme.replaceChildren(icon(picture));
    scheme.title = words();
    scheme.setAttribute("aria-label", words());
  }

  async function switchBell() {
    drawBell(await switchNotify());
    if (Notification.permission === "denied")
      app.notice(t("This browser does not allow notifications for this page."), true);
  }

  function drawBell(isOn) {
    bell.title = isOn ? t("Notifications: on") : t("Notify me when I am away");
    bell.setAttribute("aria-label", bell.title);
    bell.setAttribute("aria-pressed", String(isOn));
  }

  function rename() {
    return typedAhead(import("../sessions/title_field.js").then(({ onceThere }) => onceThere(app)), renamed);
  }

  function renamed(titleField) {
    const { sessionState, session } = app.state;
    if (!sessionState || !title.isConnected) return undefined;
    const field = titleField(app, { id: session, title: titleOf(app.state) }, (isByKey) => {
      field.replaceWith(title);
      if (isByKey) title.focus();
    });
    title.replaceWith(field);
    field.select();
    return field;
  }
  return { element };
}

/** @param {import("../app.js").State} state */
export const nameOfSession = (state) => titleOf(state) || t("Untitled");

const titleOf = ({ sessionState, sessions, session }) =>
  sessionState?.title || sessions.find(({ id }) => id === session)?.title || "";
