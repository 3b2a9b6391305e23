// The sessions of this project: by day, searched, renamed, archived, exported, gone on with.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { clock, day, daysAgo } from "../lib/format.js";
import { language, t } from "../lib/words.js";
import { api } from "../net/api.js";
import { byDay } from "../state/derived.js";
import { confirmed, openDialog } from "./dialog.js";

/** @param {import("../app.js").App} app */
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
  const list = h("div", { class: "session-list" });
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
    list,
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
  const leave = app.show(({ sessions, session }) => {
    const shown = sessions.filter((row) => Boolean(row.archived) === Boolean(archived));
    days(byDay(shown, (row) => dayWords(row.updated)).map((group) => ({ ...group, session })));
    if (!shown.length) list.replaceChildren(h("p", { class: "muted nothing", text: t("No session yet.") }));
    else list.querySelector(":scope > .nothing")?.remove();
  });
  dialog.addEventListener("close", leave);
  field.addEventListener("input", () => search(field.value.trim(), list, found, open));
  field.focus();
  app.refreshSessions();

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
    (row) => rowView(row, app, open),
  );
  return {
    element: h("section", {}, title, rows),
    update(group) {
      retext(title, group.day);
      update(group.rows.map((row) => ({ ...row, isShown: row.id === group.session })));
    },
  };
}

function rowView(row, app, open) {
  const element = h("li", {});
  const update = (now) => {
    if (element.querySelector("input")) return; // is being renamed
    const title = now.title || t("Untitled");
    const badge = now.asking
      ? h("span", { class: "badge asks", text: t("needs you") })
      : now.running
        ? h("span", { class: "spinner", role: "img", "aria-label": t("running") })
        : null;
    const act = (picture, words, work) =>
      button(
        { class: "quiet tiny", title: words, "aria-label": `${words}: ${title}`, on: { click: work } },
        icon(picture),
      );
    element.className = `session ${now.isShown ? "shown" : ""}`;
    element.replaceChildren(
      button(
        {
          class: "choose",
          "aria-current": now.isShown ? "true" : null,
          on: {
            click: () => open(now.id),
            keydown: (event) => {
              if (event.key === "F2") rename(now, element, app, update);
            },
          },
        },
        h("span", { class: "title", text: title }),
        badge ?? "",
        h("span", {
          class: "muted",
          text: [
            clock(now.updated, language),
            now.turns === 1 ? t("1 turn") : t("{n} turns", { n: now.turns }),
            now.parent && t("a fork"),
          ]
            .filter(Boolean)
            .join(" · "),
        }),
      ),
      h(
        "span",
        { class: "acts" },
        act("edit", t("Rename"), () => rename(now, element, app, update)),
        act("fork", t("Fork"), () => fork(now, app, open)),
        act("archive", now.archived ? t("Take out of the archive") : t("Archive"), () =>
          app.attempt(() => api.changeSession(now.id, { archived: !now.archived })),
        ),
        exportMenu(now),
        act("delete", t("Delete"), () => remove(now, title, app)),
      ),
    );
  };
  update(row);
  return { element, update };
}

async function fork(row, app, open) {
  const copy = await app.attempt(() => api.forkSession(row.id, row.turns));
  if (copy) open(copy.id);
}

async function remove(row, title, app) {
  if (!(await confirmed(t("Delete “{title}” for good?", { title }), t("Delete")))) return;
  app.attempt(async () => {
    await api.deleteSession(row.id);
    if (row.id === app.known.session) await app.startSession();
    await app.refreshSessions();
  });
}

function rename(row, element, app, update) {
  const field = h("input", { value: row.title, "aria-label": t("Title") });
  let isOver = false;
  const finish = (keep) => {
    if (isOver) return;
    isOver = true;
    const title = field.value.trim();
    field.remove();
    update(row);
    element.querySelector(".choose").focus();
    if (keep && title && title !== row.title) app.attempt(() => api.changeSession(row.id, { title }));
  };
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter") {
      event.preventDefault();
      finish(true);
    }
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      finish(false);
    }
  });
  field.addEventListener("blur", () => finish(true));
  element.replaceChildren(field);
  field.select();
}

function exportMenu(row) {
  const entry = (format, words) =>
    h("a", { href: api.exportAddress(row.id, format), download: "", text: words });
  const words = t("Export");
  return h(
    "details",
    { class: "export" },
    h("summary", { title: words, "aria-label": `${words}: ${row.title}` }, icon("download")),
    h(
      "div",
      { class: "export-list" },
      entry("md", "Markdown"),
      entry("json", "JSON"),
      entry("html", t("A page that replays")),
    ),
  );
}

let searches = 0;

async function search(text, list, found, open) {
  const number = (searches += 1);
  list.hidden = Boolean(text);
  found.hidden = !text;
  if (!text) return;
  await new Promise((resolve) => setTimeout(resolve, 150));
  if (number !== searches) return;
  const answer = await api.search(text).catch(() => ({ found: [] }));
  if (number !== searches) return;
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
      : h("p", { class: "muted nothing", text: t("Nothing found.") }),
  );
}
