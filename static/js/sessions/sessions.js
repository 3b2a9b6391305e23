// The sessions of this project: by day, searched, renamed, archived, exported, gone on with.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { day, daysAgo } from "../lib/time.js";
import { language, t } from "../i18n/translate.js";
import { api } from "../net/api.js";
import { openDialog } from "../dialogs/dialog.js";
import { byDay } from "./days.js";
import { SessionRow } from "./session_row.js";

/** @param {import("../app.js").App} app @returns {HTMLInputElement} the field for a search */
export function openSessions(app) {
  let archived = 0;
  const field = h("input", {
    type: "search",
    placeholder: t("Search all sessions"),
    "aria-label": t("Search all sessions"),
  });
  const archive = button(
    { class: "quiet small", "aria-pressed": "false", on: { click: () => toggleArchive() } },
    icon("archive"),
    t("Archived"),
  );
  const nothing = h("p", { class: "muted nothing", hidden: true, text: t("No sessions yet.") });
  const list = h("div", {});
  const all = h("div", { class: "session-list" }, list, nothing);
  const found = h("div", { class: "session-list", hidden: true });
  const dialog = openDialog(t("Sessions"), "drawer", [
    h(
      "div",
      { class: "drawer-tools" },
      field,
      button(
        {
          class: "primary small",
          on: {
            click: () => {
              dialog.close();
              app.startSession();
            },
          },
        },
        icon("add"),
        t("New session"),
      ),
      archive,
    ),
    all,
    found,
  ]);
  const open = (id) => {
    dialog.close();
    app.openSession(id);
  };
  const days = keyed(
    list,
    (group) => group.day,
    () => dayView(app, open),
  );
  const leave = app.subscribe(({ sessions, session }) => {
    const shown = sessions.filter((row) => Boolean(row.archived) === Boolean(archived));
    const groups = byDay(shown, (row) => dayWords(row.updated)).map((group) => ({ ...group, session }));
    keepingFocus(list, field, () => days(groups));
    nothing.hidden = shown.length > 0;
  });
  dialog.addEventListener("close", leave);
  field.addEventListener("input", () => search(app, field.value.trim(), all, found, open));
  field.focus();
  app.refreshSessions();
  return field;

  async function toggleArchive() {
    archived = archived ? 0 : 1;
    archive.setAttribute("aria-pressed", String(Boolean(archived)));
    await app.refreshSessions(archived);
  }
}

function dayWords(when) {
  const days = daysAgo(when);
  if (days <= 0) return t("Today");
  return days === 1 ? t("Yesterday") : day(when, language);
}

function dayView(app, open) {
  const title = h("h3", {});
  const rows = h("ul", {});
  const update = keyed(
    rows,
    (row) => row.id,
    (row) => new SessionRow(row, app, open),
  );
  return {
    element: h("section", {}, title, rows),
    update(group) {
      retext(title, group.day);
      update(group.rows.map((row) => ({ ...row, isShown: row.id === group.session })));
    },
  };
}

/** Does *redraw*; the focus stays on the same button of its row, or of the row in its place. */
function keepingFocus(list, field, redraw) {
  const focused = document.activeElement;
  const held = list.contains(focused) ? focused.closest(".session") : null;
  const rows = () => [...list.querySelectorAll(".session")];
  const place = rows().indexOf(held);
  redraw();
  if (!held || list.contains(document.activeElement)) return;
  const now = rows().find((row) => row.dataset.id === held.dataset.id) ?? rows()[place] ?? rows().at(-1);
  (now?.querySelector(`[data-act="${focused.dataset.act ?? "choose"}"]`) ?? field).focus();
}

let searches = 0;

async function search(app, text, all, found, open) {
  const number = (searches += 1);
  all.hidden = Boolean(text);
  found.hidden = !text;
  if (!text) return;
  await new Promise((resolve) => setTimeout(resolve, 150));
  if (number !== searches) return;
  const answer = await app.attempt(() => api.search(text));
  if (number !== searches) return;
  if (!answer) return found.replaceChildren();
  const row = ({ session, title, turn, snippet }) =>
    h(
      "li",
      { class: "session" },
      button(
        { class: "choose", on: { click: () => open(session) } },
        h("span", { class: "title", text: title || t("Untitled") }),
        h("span", { class: "snippet", text: snippet }),
        h("span", { class: "muted", text: t("turn {n}", { n: turn }) }),
      ),
    );
  found.replaceChildren(
    answer.found.length
      ? h("ul", {}, ...answer.found.map(row))
      : h("p", { class: "muted nothing", text: t("No matches.") }),
  );
}
