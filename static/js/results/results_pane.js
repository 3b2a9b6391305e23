// The results of the session, in a tab of the right pane. Loaded at its first use.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { size, visible } from "../lib/format.js";
import { clock, day } from "../lib/time.js";
import { language, say, t } from "../i18n/translate.js";
import { stylesReady } from "../lib/styles.js";
import { viewsOf } from "../layout/pane_views.js";
import { resultsApi } from "./results_api.js";
import { KINDS, drawThumbnail, resultButtons } from "./result_parts.js";

const PAUSE = 200; // ms in which more news may come

/** Shows the results in *pane*. @param {any} pane @param {(key?: string) => void} choose shows a tab */
export async function openResults(pane, choose) {
  await stylesReady(new URL("../../css/results.css", import.meta.url).href);
  const views = viewsOf(pane, choose);
  const key = `/results/${t("Results")}`;
  pane.app.emit("pane", true);
  if (!views.has(key)) views.add(key, new ResultsPane(pane.app));
  choose(key);
}

class ResultsPane {
  #isLeft = false;
  #timer = 0;
  #asked = 0;
  #seen = "";
  #drawn = "";

  constructor(app) {
    this.app = app;
    this.list = h("ul", { class: "results-list" });
    this.none = h("p", { class: "pane-empty", role: "status" });
    this.element = h("div", { class: "changes results-pane", tabIndex: -1 }, this.none, this.list);
    app.on("files", () => this.#look());
    app.subscribe((state) => this.#follow(state));
    this.#look();
  }

  shown() {
    this.#look();
  }

  leave() {
    this.#isLeft = true;
    clearTimeout(this.#timer);
    this.element.remove();
  }

  /** Looks again where another session is shown, or a turn of it began or ended. */
  #follow({ session, sessionState }) {
    const seen = `${session} ${sessionState?.running}`;
    if (seen !== this.#seen) this.#look();
    this.#seen = seen;
  }

  #look() {
    clearTimeout(this.#timer);
    if (!this.#isLeft) this.#timer = setTimeout(() => this.#ask(), PAUSE);
  }

  async #ask() {
    const asked = ++this.#asked;
    const { session } = this.app.state;
    const answer = session ? await resultsApi.all(session).catch(() => null) : { artifacts: [] };
    if (!answer || asked !== this.#asked || this.#isLeft) return;
    const results = answer.artifacts;
    const now = JSON.stringify([session, results]);
    if (now === this.#drawn) return; // what is unfolded, and the focus, stay
    this.#drawn = now;
    this.none.hidden = results.length > 0;
    this.none.textContent = t("This session has handed over nothing yet. Add a file by its menu in the tree.");
    this.list.replaceChildren(...results.map((result) => this.#row(result)));
  }

  #row(result) {
    const look = h("div", { class: "result-thumbnail" });
    const open = () => this.app.emit("open", { path: result.path });
    void drawThumbnail(look, result, open);
    const facts = [
      KINDS[result.kind]?.() ?? result.kind,
      visible(result.path),
      result.is_gone ? t("gone") : size(result.size),
      say(result.facts),
      t("turn {n}", { n: result.turn }),
    ].filter(Boolean);
    const versions = h("ul", { class: "versions", hidden: true });
    const showVersions = button(
      { class: "quiet small", "aria-expanded": "false", on: { click: () => this.#versions(result, versions, showVersions) } },
      t("Versions"),
    );
    const remove = button(
      {
        class: "quiet small",
        "aria-label": t("Take {what} off the list", { what: visible(result.title) }),
        title: t("Take off the list; the file stays"),
        on: { click: () => this.#remove(result) },
      },
      icon("close"),
    );
    return h(
      "li",
      { class: result.is_gone && "gone", data: { result: result.id } },
      look,
      h(
        "div",
        { class: "what" },
        h("b", { text: visible(result.title) }),
        h("p", { class: "muted", text: facts.join(" · ") }),
        h("div", { class: "buttons" }, ...resultButtons(this.app, result), showVersions, remove),
        versions,
      ),
    );
  }

  async #remove(result) {
    await this.app.attempt(() => resultsApi.remove(result.id));
    this.#look();
  }

  async #versions(result, place, opener) {
    if (!place.hidden) {
      place.hidden = true;
      opener.setAttribute("aria-expanded", "false");
      return;
    }
    const told = await this.app.attempt(() => resultsApi.one(result.id));
    if (!told) return;
    const row = ({ number, path, size: bytes, modified }) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: resultsApi.downloadAddress(result.id, number), download: "" },
          `${day(modified, language)} ${clock(modified, language)}`,
        ),
        h("span", { class: "muted", text: ` ${size(bytes)} · ${visible(path)}` }),
      );
    const none = h("li", { class: "muted", text: t("No checkpoint holds this file.") });
    place.replaceChildren(...(told.versions.length ? told.versions.map(row) : [none]));
    place.hidden = false;
    opener.setAttribute("aria-expanded", "true");
  }
}
