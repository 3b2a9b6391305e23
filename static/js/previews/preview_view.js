// What a job serves, in a tab of the right pane: a frame on an origin of its own, which our page
// shares nothing with, and a line above it to move about.

import { button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { say, t } from "../i18n/translate.js";
import { request } from "../net/api.js";
import { guardFocus } from "./focus_guard.js";

/** What the page in the frame may do: it is never to lead ours elsewhere, nor open windows. */
const ALLOWED = "allow-scripts allow-forms allow-same-origin allow-downloads";

/** @typedef {{job: number, port: number}} Served */

/**
 * Opens what a job serves in a tab of the browser.
 * @param {import("../app.js").App} app @param {Served} served @param {string} [path]
 */
export async function openTab(app, served, path = "/") {
  const link = await linkTo(app, { ...served, path });
  if (link) window.open(link, "_blank", "noopener");
}

const address = (app) => `/api/sessions/${app.state.session}/previews`;

async function linkTo(app, wanted) {
  try {
    return (await request("POST", address(app), { body: wanted })).url;
  } catch (problem) {
    app.notice(say(problem.phrase), true);
    return "";
  }
}

export class PreviewView {
  /** @type {HTMLIFrameElement | null} */
  #frame = null;
  #isOver = false;
  isOfSession = true;

  /** @param {import("../app.js").App} app @param {Served} served @param {string} name */
  constructor(app, served, name) {
    this.app = app;
    this.served = served;
    this.name = name;
    this.address = h("input", {
      class: "address",
      type: "text",
      value: "/",
      spellcheck: "false",
      autocomplete: "off",
      "aria-label": t("Address in the preview"),
    });
    const tool = (picture, words, work) =>
      button({ class: "quiet tiny", title: words, "aria-label": words, on: { click: work } }, icon(picture));
    this.reload = tool("refresh", t("Reload the preview"), () => this.go(this.address.value));
    this.tab = tool("link", t("Open in a new tab"), () => openTab(app, served, this.#path()));
    const origin = h("span", { class: "muted", text: `:${served.port}` });
    const form = h("form", { class: "preview-bar" }, this.reload, origin, this.address, this.tab);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.go(this.address.value);
    });
    this.over = h("p", { class: "pane-empty", role: "status", hidden: true });
    this.#guard = guardFocus(() => this.#frame, () => this.#insisted());
    this.place = h("div", { class: "preview-place" }, this.over, this.#guard.shield);
    this.element = h("section", { class: "preview-view", "aria-label": this.name }, form, this.place);
    this.#leave = app.subscribe(({ sessionState }) => this.#follow(sessionState?.background ?? []));
    this.go("/");
  }

  #leave;
  #guard;

  #path() {
    const path = this.address.value.trim();
    return path.startsWith("/") ? path : `/${path}`;
  }

  /** Shows *path* of what is served. A new frame each time leaves no trace in the history of ours. */
  async go(path) {
    this.address.value = path;
    this.address.value = this.#path();
    const link = await linkTo(this.app, { ...this.served, pane: true, path: this.address.value });
    if (!link || this.#isOver) return;
    const frame = h("iframe", {
      class: "previewed",
      title: this.name,
      sandbox: ALLOWED,
      referrerpolicy: "no-referrer",
      src: link,
    });
    frame.addEventListener("load", () => this.#loaded(frame));
    this.#instead("");
    this.#frame = frame;
    this.place.prepend(frame);
  }

  /** Shows *words* instead of the frame; "" for nothing yet. */
  #instead(words) {
    this.#frame?.remove();
    this.#frame = null;
    retext(this.over, words);
    this.over.hidden = !words;
  }

  #insisted() {
    this.#instead(
      t("This page kept taking the keyboard focus and was closed. Reload it, or open it in a new tab."),
    );
  }

  /** Takes over which page the frame shows now; only the server can know. */
  async #loaded(frame) {
    if (frame !== this.#frame || document.activeElement === this.address) return;
    const shown = await request("GET", address(this.app), { query: this.served }).catch(() => null);
    if (shown && frame === this.#frame && document.activeElement !== this.address)
      this.address.value = shown.path;
  }

  /** @param {{job: number, running: boolean, state: any}[]} jobs */
  #follow(jobs) {
    const job = jobs.find(({ job }) => job === this.served.job);
    if (this.#isOver || job?.running) return;
    this.#isOver = true;
    for (const control of [this.reload, this.address, this.tab]) control.disabled = true;
    const what = job ? say(job.state) : "";
    this.#instead(what ? t("The preview has ended: {what}.", { what }) : t("The preview has ended."));
  }

  leave() {
    this.#leave();
    this.#guard.leave();
    this.#frame = null;
    this.element.remove();
  }
}
