// The welcome of an empty session: where we are, and a few things to begin with.

import { button, h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";

/** @param {import("../app.js").App} app */
export function welcome(app) {
  const { status, sessionState } = app.state;
  if (status?.needs_key) {
    const place = h("section", { class: "welcome" });
    import("../settings/first_visit.js").then(({ firstVisit }) => firstVisit(app, place));
    return place;
  }
  const ideas = status?.practice
    ? [t("describe this folder"), t("make hello.py with print('hi') and run it"), t("find TODO"), t("help")]
    : [
        t("Describe this folder and how its parts fit together."),
        t("Find what looks unfinished: TODO, FIXME, skipped tests."),
        t("Run the tests and explain what fails."),
        t("Write a short README for this project."),
      ];
  return h(
    "section",
    { class: "welcome" },
    h("img", { src: "/static/mark.svg", alt: "", width: 40, height: 40 }),
    h("h2", {
      text: status?.project
        ? t("What should we do in {project}?", { project: status.project })
        : t("What should we do?"),
    }),
    h("p", {
      class: "muted",
      text: status?.practice
        ? t(
            "This is the practice model: a small program, no AI. It understands a few requests and carries them out with the real tools.",
          )
        : sessionState?.approval === "all"
          ? t("It reads, writes, searches and runs things here and shows every step, without asking first.")
          : t(
              "It reads, writes, searches and runs things in this folder, shows every step, and asks before anything that cannot be undone.",
            ),
    }),
    status?.practice &&
      h(
        "p",
        {},
        button({ class: "primary", on: { click: () => app.emit("settings", "deepseek_api_key") } }, t("Enter a key")),
      ),
    h(
      "ul",
      { class: "ideas" },
      ...ideas.map((idea) => h("li", {}, button({ on: { click: () => app.send(idea) } }, idea))),
    ),
    h(
      "p",
      { class: "muted hints" },
      h("kbd", { text: "@" }),
      ` ${t("mentions a file")} `,
      h("kbd", { text: "/" }),
      ` ${t("lists the commands")} `,
      h("kbd", { text: "?" }),
      ` ${t("shows the keys")}`,
    ),
  );
}
