// What was said in sessions, and what they are called and tagged, found by words.

import { button, h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { api } from "../net/api.js";

let searches = 0;

/**
 * Shows in *found* the sessions that have *text*.
 * @param {import("../app.js").App} app
 * @param {(id: string) => void} open
 */
export async function searchSessions(app, text, found, open) {
  const number = (searches += 1);
  if (!text) return;
  await new Promise((resolve) => setTimeout(resolve, 150));
  if (number !== searches) return;
  const answer = await app.attempt(() => api.search(text));
  if (number !== searches) return;
  if (!answer) return found.replaceChildren();
  const wanted = text.toLowerCase();
  const named = app.state.sessions.filter((row) =>
    [row.title, ...(row.tags ?? []).map((tag) => `#${tag}`)].some((words) => words.toLowerCase().includes(wanted)),
  );
  const rows = [
    ...named.map(({ id, title, tags }) => row(open, id, title, (tags ?? []).map((tag) => `#${tag}`).join(" "))),
    ...answer.found.map(({ session, title, turn, snippet }) =>
      row(open, session, title, t("turn {n}", { n: turn }), snippet),
    ),
  ];
  found.replaceChildren(
    rows.length ? h("ul", {}, ...rows) : h("p", { class: "muted nothing", text: t("Nothing found.") }),
  );
}

function row(open, id, title, facts, snippet = "") {
  return h(
    "li",
    { class: "session" },
    button(
      { class: "choose", on: { click: () => open(id) } },
      h("span", { class: "title", text: title || t("Untitled") }),
      snippet && h("span", { class: "snippet", text: snippet }),
      h("span", { class: "muted", text: facts }),
    ),
  );
}
