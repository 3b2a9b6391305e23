// Receipts below an answer: what was run, what that still stands for, and claims without any.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";
import { request } from "../net/api.js";

/** @typedef {{command: string, exit_code: number | null, state: "green" | "red" | "grey", files: string[], changed_checks: string[], is_check: boolean, reason?: string}} Receipt */
/** @typedef {{text: string, supported: boolean, rests_on: "receipt" | "reading" | "nothing"}} Claim */

const SOON = 150; // ms; many files may change at once
const MAX_OTHERS = 5; // receipts of runs that are no checks
const NOT_THERE = new Set([126, 127]); // exit codes of a shell for a program that it cannot run
const SIGNS = { green: "check", red: "alert", grey: "stop" };

/** Keeps the receipts on the page as they are now: it asks when files change. */
class LiveReceipts {
  /** @type {Map<number, (receipts: Receipt[]) => void>} by turn */
  #shown = new Map();
  #timer = 0;
  #asked = 0;

  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    app.on("files", () => this.#askSoon());
    app.on("session", () => {
      this.#shown.clear();
      app.receiptPaths = [];
    });
  }

  /** Has *update* called with the receipts of *turn* whenever they may be others. */
  follow(turn, update) {
    this.#shown.set(turn, update);
    this.#askSoon();
  }

  #askSoon() {
    if (!this.#shown.size || this.#timer) return;
    this.#timer = setTimeout(() => this.#ask(), SOON);
  }

  async #ask() {
    this.#timer = 0;
    const asked = (this.#asked += 1);
    const { session } = this.app.state;
    const answer = await this.app.attempt(() => request("GET", `/api/sessions/${session}/receipts`));
    if (!answer || asked !== this.#asked || session !== this.app.state.session) return;
    for (const [turn, update] of this.#shown) update(answer.receipts.filter((one) => one.turn === turn));
    this.app.receiptPaths = answer.files;
    this.app.emit("watch");
  }
}

/**
 * The receipts and the claims of a turn, or null where there are none to show.
 * @param {{turn: number, receipts?: Receipt[], claims?: Claim[]}} end
 * @param {{app?: import("../app.js").App, receipts?: LiveReceipts}} host *app* only where files may change
 */
export function receiptList({ turn, receipts = [], claims = [] }, host) {
  const doubts = claims.filter((claim) => !claim.supported).map(doubt);
  const list = h("ul", { class: "receipts", "aria-label": t("Receipts") });
  const draw = (now) => {
    const rows = told(now, claims).map(row);
    list.replaceChildren(...rows, ...doubts);
    return rows.length + doubts.length;
  };
  if (!draw(receipts)) return null;
  if (host.app && receipts.some(({ state }) => state !== "grey")) {
    host.receipts ??= new LiveReceipts(host.app);
    host.receipts.follow(turn, draw);
  }
  return list;
}

/** The last receipt of each check; one of another run where the answer claims something. */
function told(receipts, claims) {
  const others = claims.length ? receipts.filter((one) => !one.is_check).slice(-MAX_OTHERS) : [];
  const checks = new Map(receipts.filter((one) => one.is_check).map((one) => [one.command, one]));
  return [...others, ...checks.values()];
}

function row(receipt) {
  const isDoubtful = receipt.state === "green" && receipt.changed_checks.length;
  return h("li", { class: isDoubtful ? "doubt" : receipt.state }, icon(SIGNS[receipt.state]), words(receipt));
}

/** @param {Receipt} receipt */
function words({ command, exit_code: code, state, files, changed_checks: changed, reason = "" }) {
  const name = visible(command.replace(/\s+/g, " ")).slice(0, 100);
  const list = (paths) => paths.map(visible).join(", ");
  if (state === "red") return t("{name} failed (exit code {code})", { name, code });
  if (state === "grey" && files.length && reason === "own changes")
    return t("{name} changed {files} itself", { name, files: list(files) });
  if (state === "grey" && !files.length) {
    if (reason === "not there" || NOT_THERE.has(code)) return t("{name} could not be run (exit code {code})", { name, code });
    if (reason === "no tests") return t("{name} found no tests (exit code {code})", { name, code });
    if (reason === "unfinished") return t("{name} did not finish", { name });
  }
  if (state === "grey")
    return files.length
      ? t("{name} is outdated: {files} changed", { name, files: list(files) })
      : t("{name} does not apply to the current files", { name });
  return changed.length
    ? t("{name} passed, but the task changed the checks themselves: {files}", { name, files: list(changed) })
    : t("{name} passed (exit code {code})", { name, code });
}

/** @param {Claim} claim */
function doubt({ text, rests_on: ground }) {
  const shown = visible(text);
  return h(
    "li",
    { class: "doubt" },
    icon("alert"),
    ground === "reading"
      ? t("Not verified by a run, only by reading: {text}", { text: shown })
      : t("Not verified by a run: {text}", { text: shown }),
  );
}
