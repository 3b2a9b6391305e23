// What runs in the background: how many in the line at the bottom, and below the card of the call
// that started each its state, the end of its output, and a button that stops it.

import { button, h, keyed, retext } from "../lib/dom.js";
import { lineOf } from "../store/declared.js";
import { say, t } from "../i18n/translate.js";
import { outputView } from "./output.js";

/** @typedef {{job: number, call_id: string, running: boolean, state: any, command: string, ports: number[], tail: string, screen?: boolean}} Job */

/**
 * Draws the jobs of the session from now on, whenever something of them or of the page changes.
 * @param {import("../app.js").App} app
 */
export function followJobs(app) {
  const count = h("span", { class: "running", hidden: true });
  document.querySelector(".statusbar .gap")?.before(count);
  const views = new Map();
  app.subscribe(({ sessionState, session }) => {
    const all = sessionState?.background ?? [];
    drawCount(count, all);
    for (const job of all) {
      const call = document.querySelector(`.call[data-call="${CSS.escape(job.call_id)}"]`);
      if (!call) continue;
      const key = `${session} ${job.job}`;
      if (!views.has(key)) views.set(key, new JobView(app, job.job));
      const view = views.get(key);
      view.update(job);
      if (view.element.parentNode !== call) call.append(view.element);
    }
  });
}

/** @param {HTMLElement} element @param {Job[]} all */
function drawCount(element, all) {
  const running = all.filter((job) => job.running);
  element.hidden = !running.length;
  retext(element, running.length === 1 ? t("1 job") : t("{n} jobs", { n: running.length }));
  element.title = running.map((job) => `${say(job.state)}: ${job.command}`).join("\n");
}

class JobView {
  #tail = null;

  constructor(app, number) {
    this.state = h("span", { class: "said" });
    this.stop = button({ class: "quiet tiny", on: { click: () => stopJob(app, number) } }, t("Stop"));
    this.output = h("div", {});
    this.offers = h("div", {});
    this.drawOffers = keyed(this.offers, String, (port) => offer(app, { job: number, port }));
    const facts = h("p", { class: "facts" }, this.state, " ", this.stop);
    this.element = h("div", { class: "job" }, facts, this.offers, this.output);
  }

  /** @param {Job} job */
  update({ state, tail, running, ports, screen }) {
    this.drawOffers(running ? ports : []);
    retext(this.state, say(state));
    this.stop.hidden = !running;
    if (tail === this.#tail) return;
    this.#tail = tail;
    const shown = screen ? { head: Infinity } : { head: 2, tail: 12 };
    this.output.replaceChildren(...(tail ? [outputView(tail, shown)] : []));
    this.output.classList.toggle("screen", Boolean(screen));
  }
}

/** A port that a job listens on, to be looked at. */
function offer(app, served) {
  const { port } = served;
  const preview = button({ class: "small", on: { click: () => app.emit("preview", served) } }, t("Preview"));
  const tab = button({ class: "quiet small", on: { click: () => newTab(app, served) } }, t("New tab"));
  return { element: h("p", { class: "offers" }, t("Port {port} is open", { port }), preview, tab) };
}

async function newTab(app, served) {
  const { openTab } = await import("../previews/preview_view.js");
  await openTab(app, served);
}

async function stopJob(app, number) {
  const line = lineOf("background", `stop ${number}`);
  await app.connection.command("command", { session: app.state.session, line });
}
