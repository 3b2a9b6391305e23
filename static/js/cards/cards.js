// Every card of core/cards.py as nodes; a test holds the names against those of the server.

import { h } from "../lib/dom.js";
import { size, visible } from "../lib/format.js";
import { duration } from "../lib/time.js";
import { pictureRow } from "../conversation/picture.js";
import { api } from "../net/api.js";
import { say, t } from "../i18n/translate.js";
import { diffView } from "./diff_view.js";
import { outputView } from "./output.js";
import { programBlock } from "./program.js";
import { promptCard } from "./prompt.js";

/** @typedef {import("../store/reducer.js").Card} Card */
/** @typedef {{openFile: (path: string, line?: number) => void, pictureAddress?: (digest: string) => string}} Host what cards can ask of the page */

const DRAWN = {
  text: textCard,
  diff: diffCard,
  run: runCard,
  search: searchCard,
  tree: treeCard,
  table: tableCard,
  links: linksCard,
  todo: todoCard,
  prompt: promptCard,
  origins: originsCard,
  result: resultCard,
};

const LONG_TITLE = 100; // characters that a head may cut
const SHORT = 24; // characters of a cell that stay on one line
const PLAIN_ENDS = new Set(["done", "failed"]);
const REMARK = 50; // characters of a body that may stand in a head

/** The kinds of all cards the page knows. */
export const CARDS = Object.keys(DRAWN);

/**
 * @param {Card} card
 * @param {Host} host
 * @param {boolean} [hasHead] whether a head above it says its `summary`
 * @returns {Node}
 */
export function drawCard(card, host, hasHead = false) {
  return (DRAWN[card.kind] ?? unknownCard)(card, host, hasHead);
}

/**
 * The words of the head of a call about its card: short, or "".
 * @param {Card | null} card
 * @param {boolean} [isSaid] whether the head says by itself what was done, as a card's title does
 */
export function summary(card, isSaid = false) {
  switch (card?.kind) {
    case "text":
      return isSaid ? remark(say(card.body)) : firstLine(say(card.title));
    case "run":
      return card.exit_code === 0
        ? ""
        : card.exit_code === null
          ? say(card.why)
          : t("exit {code}", { code: card.exit_code });
    case "search":
      return card.total === 1 ? t("1 match") : t("{n:,} matches", { n: card.total });
    case "tree":
      return entries(card.entries.length + card.left_out);
    case "links":
      return card.links.length === 1 ? t("1 page") : t("{n} pages", { n: card.links.length });
    case "todo":
      return t("{done} of {count} done", {
        done: card.todos.filter(({ status }) => status === "completed").length,
        count: card.todos.length,
      });
    default:
      return "";
  }
}

const entries = (n) => (n === 1 ? t("1 entry") : t("{n} entries", { n }));
const remark = (text) => (text.length <= REMARK && !text.includes("\n") ? text : "");
const firstLine = (text) => (text.length > 160 ? `${text.slice(0, 160)} …` : text).split("\n")[0];

/**
 * Tells whether there is more to a card than its summary.
 * @param {Card | null} card
 * @param {boolean} [isSaid] as in `summary`
 */
export function hasBody(card, isSaid = false) {
  if (card?.kind !== "text") return Boolean(card);
  const body = say(card.body);
  if (card.pictures?.length || card.document) return true;
  return say(card.title).length > LONG_TITLE || Boolean(body && !(isSaid && remark(body)));
}

function textCard(card, host, hasHead) {
  const [title, body] = [say(card.title), say(card.body)];
  const isSaid = hasHead && body && title.length <= LONG_TITLE;
  return h(
    "div",
    { class: "card-text" },
    !isSaid && h("p", { text: title }),
    body && !(hasHead && card.document) && outputView(body),
    pictureRow(card.pictures, host.pictureAddress),
    card.document && host.app && documentPage(card, host.app),
  );
}

function documentPage({ document: path, page }, app) {
  const look = h("div", { class: "result-thumbnail" });
  import("../results/document_pages.js").then(({ drawPage }) => drawPage(look, path, page, app));
  return h("div", { class: "card-result" }, look);
}

function diffCard(card) {
  return h(
    "div",
    {},
    card.note && h("p", { class: "muted", text: say(card.note) }),
    diffView(card.diff, { path: card.path }),
  );
}

function runCard(card, host, hasHead) {
  const isEnded = !card.job && !hasHead; // what a head says is not said again
  const facts = [
    isEnded && (card.exit_code === null ? t("killed") : t("exit {code}", { code: card.exit_code })),
    isEnded && duration(card.seconds),
    card.tier && say({ template: card.tier }),
    card.shown_folders?.length && t("shows {folders}", { folders: card.shown_folders.map(visible).join(", ") }),
  ].filter(Boolean);
  const isSaid = PLAIN_ENDS.has(card.why?.template) || (hasHead && card.exit_code === null);
  const why = isSaid ? "" : say(card.why); // the exit code says it, or the head
  return h(
    "div",
    { class: `card-run ${card.job ? "of-job" : ""}` },
    programBlock(card.code, card.language),
    card.output
      ? outputView(card.output, { head: 100, tail: 60 })
      : h("p", { class: "muted no-output", text: t("No output.") }),
    ...(card.pictures ?? []).map(({ path }) => pictureMark(path, host)),
    runTables(card, host),
    card.changes?.length
      ? h("p", { class: "changed" }, ...card.changes.flatMap((change) => [changeMark(change, host), " "]))
      : null,
    card.note && h("p", { class: "muted", text: say(card.note) }),
    h(
      "p",
      { class: "facts muted" },
      facts.join(" · "),
      why && h("span", { class: "why-ended", text: facts.length ? ` · ${why}` : why }),
    ),
  );
}

/** The tables that a run has written; null for none. */
function runTables({ changes = [] }, host) {
  const written = changes.filter(({ kind }) => kind === "created" || kind === "modified");
  const paths = written.map(({ path }) => path).filter((path) => /\.[ct]sv$/i.test(path)).slice(0, 3);
  if (!paths.length || !host.app) return null;
  const place = h("div", {});
  import("../tables/run_tables.js").then(({ drawTables }) => drawTables(place, paths, host.openFile));
  return place;
}

function pictureMark(path, host) {
  const alt = visible(path);
  return h(
    "button",
    { class: "run-picture", type: "button", title: alt, on: { click: () => host.openFile(path) } },
    h("img", { src: api.rawAddress(path), alt, loading: "lazy" }),
  );
}

const MARKS = { created: "+", modified: "~", deleted: "−", renamed: "→" };

function changeMark({ kind, path, new_path }, host) {
  const name = visible(new_path || path);
  const mark = h("span", { class: `mark ${kind}`, text: MARKS[kind] ?? "~" });
  return kind === "deleted"
    ? h("span", { class: "path gone" }, mark, name)
    : fileLink(host, new_path || path, 0, mark, name);
}

/** A button that shows a file. */
export function fileLink(host, path, line, ...children) {
  return h(
    "button",
    { type: "button", class: "link path", on: { click: () => host.openFile(path, line) } },
    ...children,
  );
}

function searchCard(card, host) {
  const byFile = Map.groupBy ? Map.groupBy(card.hits, (hit) => hit.path) : grouped(card.hits);
  const files = [...byFile].map(([path, hits]) =>
    h(
      "section",
      {},
      fileLink(host, path, hits[0].line, visible(path)),
      h(
        "ul",
        {},
        ...hits
          .filter((hit) => hit.line)
          .map((hit) =>
            h(
              "li",
              {},
              fileLink(
                host,
                path,
                hit.line,
                h("span", { class: "line-number", text: hit.line }),
                h("code", { text: visible(hit.text) }),
              ),
            ),
          ),
      ),
    ),
  );
  const more = card.total - card.hits.length;
  const large = card.too_large ?? 0; // a card of an older session has no such count
  const left = large === 1 ? t("1 file") : t("{n:,} files", { n: large });
  return h(
    "div",
    { class: "card-search" },
    ...files,
    !card.hits.length && h("p", { class: "muted", text: t("No matches.") }),
    more > 0 && h("p", { class: "muted", text: t("… and {n:,} more", { n: more }) }),
    card.is_cut_short &&
      h("p", { class: "muted", text: t("The search timed out; results are incomplete.") }),
    large > 0 && h("p", { class: "muted", text: t("Too large to search: {files}", { files: left }) }),
  );
}

function grouped(hits) {
  const files = new Map();
  for (const hit of hits) files.set(hit.path, [...(files.get(hit.path) ?? []), hit]);
  return files;
}

function treeCard(card, host) {
  const row = (entry) =>
    h(
      "li",
      { data: { depth: Math.min(entry.depth, 8) } },
      entry.size === null
        ? h("span", { class: "path", text: `${visible(entry.path.split("/").at(-1))}/` })
        : fileLink(host, entry.path, 0, visible(entry.path.split("/").at(-1))),
      entry.size !== null && h("span", { class: "muted", text: size(entry.size) }),
      entry.note && h("span", { class: "note", text: say(entry.note) }),
    );
  return h(
    "div",
    { class: "card-tree" },
    h("ul", {}, ...card.entries.map(row)),
    card.left_out > 0 && h("p", { class: "muted", text: t("… and {n:,} more", { n: card.left_out }) }),
  );
}

function tableCard(card) {
  const width = Math.max(card.columns.length, ...card.rows.map((row) => row.length));
  const hasLongLabels = !card.columns.length && width > 1 && card.rows.some(([label]) => say(label).length > SHORT);
  const isStacked = !card.columns.length && width > 2; // on a phone: a name beside two texts has no room
  const isRecords = card.columns.length > 4; // on a phone: each row is a list of what it has
  const body = card.rows.map((row, at) =>
    h(
      "tr",
      { class: card.alarms?.includes(at) ? "alarm" : card.gone?.includes(at) && "muted" },
      ...row.map((text, index) => {
        const isLast = index === row.length - 1;
        const colspan = isLast && index < width - 1 && width - index;
        return index === 0 && !card.columns.length
          ? h("th", { scope: "row", colspan }, say(text))
          : h("td", { colspan, class: cellClass(say(text), isLast, card), data: { label: say(card.columns[index]) } }, say(text));
      }),
    ),
  );
  return h(
    "div",
    { class: "wide card-table", tabIndex: 0, role: "group", "aria-label": say(card.title) || t("Table") },
    h(
      "table",
      { class: hasLongLabels ? "long-labels" : isStacked ? "stacked" : isRecords && "records" },
      h("caption", { text: say(card.title) }),
      card.columns.length
        ? h("thead", {}, h("tr", {}, ...card.columns.map((text) => h("th", { scope: "col" }, say(text)))))
        : null,
      h("tbody", {}, ...body),
    ),
  );
}

/** A long cell breaks anywhere; a short one nowhere, but the last, and before what it has in brackets. */
function cellClass(text, isLast, { columns }) {
  if (text.length > SHORT || (isLast && !columns.length)) return "long";
  return isLast || text.includes(" (") ? "" : "short";
}

function linksCard(card) {
  return h(
    "ol",
    { class: "card-links" },
    ...card.links.map((link, index) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: safeUrl(link.url), target: "_blank", rel: "noopener noreferrer nofollow" },
          h("span", { class: "number", text: link.n || index + 1 }),
          h(
            "span",
            { class: "what" },
            h("b", { text: visible(link.title) || hostOf(link.url) }),
            h("span", { class: "muted", text: hostOf(link.url) }),
          ),
          link.snippet && h("span", { class: "snippet", text: visible(link.snippet) }),
        ),
      ),
    ),
  );
}

/** @param {string} url */
const safeUrl = (url) => (/^https?:\/\//i.test(url) ? url : "about:blank");

function hostOf(url) {
  try {
    return new URL(url).hostname.replace(/^www\./, "");
  } catch {
    return url;
  }
}

function resultCard(card, host) {
  const place = h("div", {});
  import("../results/result_card.js").then(({ drawResult }) => drawResult(place, card, host));
  return place;
}

function originsCard(card, host) {
  const place = h("div", {});
  import("./origins.js").then((origins) => place.replaceChildren(origins.originsCard(card, host)));
  return place;
}

const STATES = { pending: () => t("to do"), in_progress: () => t("in progress"), completed: () => t("done") };

export function todoCard(card) {
  return h(
    "ul",
    { class: "card-todo" },
    ...card.todos.map(({ title, status }) =>
      h(
        "li",
        { class: status },
        h("span", { class: "box", role: "img", "aria-label": STATES[status]?.() ?? status }),
        title,
      ),
    ),
  );
}

function unknownCard(card) {
  return h("pre", { class: "muted", text: JSON.stringify(card, null, 1) });
}
