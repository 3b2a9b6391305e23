// The line at the top: where we are, other sessions, how the page looks and speaks.

import { button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { language, switchLanguage, t } from "../lib/words.js";
import { api } from "../net/api.js";
import { canNotify, notifies, switchNotify } from "../lib/notify.js";
import { currentScheme, nextScheme } from "../lib/scheme.js";

const SCHEMES = {
  auto: ["system", () => t("Colours: as the system")],
  light: ["sun", () => t("Colours: light")],
  dark: ["moon", () => t("Colours: dark")],
};

/** @param {import("../app.js").App} app */
export function topbar(app) {
  const tool = (picture, words, work, more = {}) =>
    button(
      { class: "quiet", title: words, "aria-label": words, on: { click: work }, ...more },
      icon(picture),
    );
  const title = button({ class: "quiet title", title: t("Rename (F2)"), on: { click: () => rename() } });
  const badge = h("span", { class: "badge asks", hidden: true });
  const scheme = tool("system", "", () => drawScheme(nextScheme()));
  const bell = tool("bell", "", () => switchBell(), { class: "quiet wide-only" });
  const element = h(
    "header",
    { class: "topbar" },
    tool("sidebar", t("File tree (Ctrl+B)"), () => app.tell("side"), { class: "quiet wide-only" }),
    h(
      "a",
      {
        class: "brand",
        href: "/",
        "aria-label": "Onefold",
        on: {
          click: (event) => {
            event.preventDefault();
            app.tell("compose");
          },
        },
      },
      h("img", { src: "/static/mark.svg", alt: "", width: 20, height: 20 }),
      h("span", { text: "Onefold" }),
    ),
    h("span", { class: "project" }),
    tool("menu", t("Sessions (Ctrl+K)"), () => app.tell("sessions")),
    h("h1", { class: "title-place" }, title),
    badge,
    tool("add", t("New session"), app.startSession),
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
    tool("keyboard", t("Keys (?)"), () => app.tell("keys"), { class: "quiet wide-only" }),
    tool("panel", t("Changes and files (Ctrl+J)"), () => app.tell("pane"), { class: "quiet wide-only" }),
  );
  const project = element.querySelector(".project");
  drawScheme(currentScheme());
  drawBell(notifies());
  app.on("rename", rename);

  app.show(({ status, sessions, session, state }) => {
    retext(project, status?.project ?? "");
    project.title = status?.root ?? "";
    retext(title, nameOfSession(app.known));
    const waiting = sessions.filter((row) => row.asking && row.id !== session).length;
    badge.hidden = !waiting;
    retext(badge, t("{n} need you", { n: waiting }));
    title.disabled = !state;
  });

  function drawScheme(name) {
    const [picture, words] = SCHEMES[name];
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
    bell.title = isOn ? t("Notifications: on") : t("Notify me when I look elsewhere");
    bell.setAttribute("aria-label", bell.title);
    bell.setAttribute("aria-pressed", String(isOn));
  }

  function rename() {
    const field = h("input", {
      class: "title-field",
      value: nameOfSession(app.known),
      "aria-label": t("Title"),
    });
    let isOver = false;
    const finish = (keep) => {
      if (isOver) return;
      isOver = true;
      field.replaceWith(title);
      if (keep && field.value.trim())
        app.attempt(() => api.changeSession(app.known.session, { title: field.value.trim() }));
    };
    field.addEventListener("keydown", (event) => {
      if (event.isComposing || event.keyCode === 229) return;
      if (event.key === "Enter") {
        event.preventDefault();
        finish(true);
      }
      if (event.key === "Escape") finish(false);
    });
    field.addEventListener("blur", () => finish(true));
    title.replaceWith(field);
    field.select();
  }
  return { element };
}

/** @param {import("../app.js").Known} known */
export function nameOfSession({ state, sessions, session }) {
  return state?.title || sessions.find(({ id }) => id === session)?.title || t("Untitled");
}
