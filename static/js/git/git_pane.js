// The Git pane: state, branches, diffs, stage, commit and log. Loaded at its first use.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { keep, kept } from "../lib/storage.js";
import { say, t } from "../i18n/translate.js";
import { confirmed } from "../dialogs/dialog.js";
import { viewsOf } from "../layout/pane_views.js";
import { stylesReady } from "../lib/styles.js";
import { GitFile } from "./git_file.js";
import { GitLog } from "./git_log.js";
import { GitSource } from "./git_source.js";
import { UnderWay } from "./under_way.js";

const DRAFT = "git message";
const SECTIONS = {
  conflicts: () => t("Conflicts"),
  staged: () => t("Staged"),
  unstaged: () => t("Not staged"),
  untracked: () => t("Untracked"),
};

/** Shows git in *pane*. @param {any} pane @param {(key?: string) => void} choose shows a tab */
export async function openGit(pane, choose) {
  await stylesReady(new URL("../../css/git.css", import.meta.url).href);
  const views = viewsOf(pane, choose);
  const key = `/git/${t("Git")}`;
  pane.app.emit("pane", true);
  if (!views.has(key)) views.add(key, new GitPane(pane.app));
  choose(key);
}

class GitPane {
  constructor(app) {
    this.app = app;
    this.refusal = h("p", { class: "pane-empty", role: "status", hidden: true });
    this.said = h("p", { class: "muted said", role: "status" });
    this.sections = Object.keys(SECTIONS).map((kind) => this.#section(kind));
    this.clean = h("p", { class: "muted", text: t("No changes since the last commit.") });
    this.log = new GitLog(this);
    this.whole = h(
      "div",
      { class: "git-whole", hidden: true },
      this.#makeHead(),
      this.#makeCommit(),
      this.clean,
      ...this.sections.map(({ element }) => element),
      this.log.element,
    );
    this.element = h("div", { class: "changes git-pane", tabIndex: -1 }, this.refusal, this.whole);
    this.source = new GitSource(app, this.element, () => this.#draw());
  }

  leave() {
    this.source.leave();
    this.element.remove();
  }

  #makeHead() {
    this.branches = h("select", {
      class: "small",
      "aria-label": t("Branch"),
      on: { change: () => this.#drawSwitch() },
    });
    this.switchButton = button({ class: "small", hidden: true, on: { click: () => this.#switch() } }, t("Switch"));
    this.newName = h("input", {
      type: "text",
      "aria-label": t("Name of the new branch"),
      placeholder: t("Name of the new branch"),
      hidden: true,
      on: { keydown: (event) => this.#nameKey(event) },
    });
    this.newButton = button({ class: "small", on: { click: () => this.#create() } }, icon("add"), t("New branch"));
    this.where = h("p", { class: "muted where-head" });
    this.underWay = new UnderWay(this.app);
    const tools = h("div", { class: "about" }, this.branches, this.switchButton, this.newName, this.newButton);
    return h("header", { class: "changes-head git-head" }, tools, this.where, this.underWay.element);
  }

  #makeCommit() {
    this.message = h("textarea", {
      rows: 3,
      "aria-label": t("Commit message"),
      placeholder: t("Commit message"),
      value: kept(DRAFT) ?? "",
      on: { input: () => this.#messageChanged(), keydown: (event) => this.#key(event) },
    });
    this.commitButton = button({ class: "primary small", on: { click: () => this.commit() } }, icon("check"), t("Commit"));
    this.suggestButton = button(
      {
        class: "small",
        title: t("One call of the model with the staged diff; secrets are left out"),
        on: { click: () => this.#suggest() },
      },
      t("Suggest"),
    );
    const tools = h("div", { class: "buttons" }, this.commitButton, this.suggestButton, this.said);
    this.commitForm = h("div", { class: "git-commit" }, this.message, tools);
    return this.commitForm;
  }

  #section(kind) {
    const title = h("h2", { id: `git-${kind}` });
    const list = h("div", { class: "changed-files" });
    const files = new Set();
    const draw = keyed(
      list,
      (file) => file.path,
      (file) => {
        const view = new GitFile(file, kind, this);
        files.add(view);
        return { element: view.element, update: (now) => view.update(now), leave: () => files.delete(view) };
      },
    );
    const all =
      kind === "staged"
        ? button({ class: "small", data: { act: "unstage-all" }, on: { click: () => this.act("unstage", { paths: [] }) } }, t("Unstage all"))
        : kind === "unstaged" || kind === "untracked"
          ? button({ class: "small", data: { act: "stage-all" }, on: { click: () => this.#stageAll(kind) } }, t("Stage all"))
          : "";
    const more = h("p", { class: "muted more-files", hidden: true });
    const element = h(
      "section",
      { class: "git-section", data: { kind }, "aria-labelledby": title.id, hidden: true },
      h("div", { class: "changes-head" }, title, all),
      list,
      more,
    );
    return { kind, title, draw, files, more, element };
  }

  // --- drawing -----------------------------------------------------------------------------------

  #draw() {
    const { state, branches, refusal } = this.source.answer;
    this.refusal.hidden = !refusal;
    this.whole.hidden = !state;
    retext(this.refusal, refusal ? say(refusal) : "");
    if (!state) return;
    this.state = state;
    this.#drawBranches(state, branches);
    this.#drawWhere(state);
    for (const { kind, title, draw, more, element } of this.sections) {
      const { files, left_out } = state[kind];
      retext(title, `${SECTIONS[kind]()} (${(files.length + left_out).toLocaleString()})`);
      draw(files);
      more.hidden = !left_out;
      retext(more, t("… and {n:,} more", { n: left_out }));
      element.hidden = !files.length;
    }
    this.clean.hidden = this.sections.some(({ element }) => !element.hidden);
    for (const { files } of this.sections) for (const file of files) void file.load();
    this.#drawButtons();
    this.log.follow(state.head);
  }

  #drawBranches({ branch, head }, branches) {
    const known = branches.map(({ name, shown }) => [name, shown]);
    if (!branch) known.unshift(["", t("detached at {commit}", { commit: head.slice(0, 8) })]);
    else if (!branches.some(({ name }) => name === branch)) known.unshift([branch, branch]);
    const key = JSON.stringify(known);
    const chosen = this.branches.value;
    if (this.branches.dataset.known !== key) {
      this.branches.dataset.known = key;
      this.branches.replaceChildren(...known.map(([value, text]) => h("option", { value, text })));
      this.branches.value = known.some(([value]) => value === chosen) ? chosen : branch; // what is being chosen stays
    }
    if (branch !== this.branch) this.branches.value = branch;
    this.branch = branch;
    this.#drawSwitch();
  }

  #drawSwitch() {
    this.switchButton.hidden = !this.branches.value || this.branches.value === this.branch;
  }

  #drawWhere({ branch, head, upstream, ahead, behind, under_way, conflicts, is_linked, submodules }) {
    const about = [
      head ? "" : t("no commit yet"),
      upstream ? t("{ahead} ahead, {behind} behind {upstream} (as last fetched)", { ahead, behind, upstream }) : "",
      branch ? "" : t("a commit here belongs to no branch"),
      is_linked ? t("linked work tree") : "",
      submodules ? t("changes inside submodules are not shown") : "",
    ];
    retext(this.where, about.filter(Boolean).join(" · "));
    this.where.hidden = !this.where.textContent;
    this.underWay.draw(under_way, conflicts.files.length);
  }

  #drawButtons() {
    const { state } = this;
    const count = state ? state.staged.files.length + state.staged.left_out : 0;
    const mayCommit = count > 0 || state?.under_way === "merge";
    this.commitButton.disabled = this.isBusy || !mayCommit || !this.message.value.trim();
    this.suggestButton.disabled = this.isBusy || !count || Boolean(state?.is_practice);
  }

  // --- what is done ------------------------------------------------------------------------------

  /** Has the server do it; the focus stays near where it was. @returns {Promise<any>} */
  async act(what, body) {
    const stops = () => [...this.element.querySelectorAll("button, summary")].filter((each) => each.offsetParent);
    const place = stops().indexOf(document.activeElement);
    const name = document.activeElement?.dataset?.act;
    const answer = await this.app.attempt(() => this.source.act(what, body));
    if (answer?.card) retext(this.said, [say(answer.card.title), say(answer.card.body)].filter(Boolean).join(" ").split("\n")[0]);
    if (place >= 0 && (!document.activeElement || document.activeElement === document.body)) {
      const left = stops();
      const next = left.slice(place).find((each) => each.dataset.act === name);
      (next ?? left.findLast((each) => each.dataset.act === name) ?? this.message).focus();
    }
    return answer;
  }

  #stageAll(kind) {
    const { files, left_out } = this.state[kind];
    const isAll = kind === "unstaged" ? !this.state.untracked.files.length : !this.state.unstaged.files.length;
    return this.act("stage", { paths: isAll || left_out ? [] : files.map(({ path }) => path) });
  }

  async discard(file, hunk = "") {
    const question =
      file.kind === "untracked"
        ? t("Delete {path}? git does not know this file. /undo restores it.", { path: file.shown })
        : hunk
          ? t("Discard this change of {path}? /undo restores it.", { path: file.shown })
          : t("Discard all changes of {path} that are not staged? /undo restores them.", { path: file.shown });
    if (await confirmed(question, t("Discard"))) await this.act("discard", { paths: [file.path], hunk });
  }

  async #switch() {
    await this.act("switch", { branch: this.branches.value });
    if (this.switchButton.hidden) this.branches.focus();
  }

  /** Asks for the name first. */
  async #create() {
    const branch = this.newName.value.trim();
    if (this.newName.hidden || !branch) {
      this.newName.hidden = !this.newName.hidden;
      if (!this.newName.hidden) this.newName.focus();
      return;
    }
    const answer = await this.act("switch", { branch, create: true });
    if (!answer) return;
    this.newName.value = "";
    this.newName.hidden = true;
    this.newButton.focus();
  }

  #nameKey(event) {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation(); // Escape would stop what runs
    if (event.key === "Enter") void this.#create();
    else {
      this.newName.hidden = true;
      this.newButton.focus();
    }
  }

  #messageChanged() {
    keep(DRAFT, this.message.value || null);
    this.#drawButtons();
  }

  #key(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    if (!this.commitButton.disabled) void this.commit();
  }

  async #busy(work) {
    this.isBusy = true;
    this.#drawButtons();
    try {
      return await this.app.attempt(work);
    } finally {
      this.isBusy = false;
      this.#drawButtons();
    }
  }

  async commit(publish = false) {
    const message = this.message.value;
    const answer = await this.#busy(() =>
      this.source.act("commit", { message, publish }).catch((refusal) => {
        if (refusal.code !== "secrets") throw refusal;
        return { secrets: refusal.phrase };
      }),
    );
    if (answer?.secrets) {
      if (await confirmed(say(answer.secrets), t("Commit anyway"))) await this.commit(true);
    } else if (answer) {
      if (this.message.value === message) this.message.value = "";
      this.#messageChanged();
      retext(this.said, [say(answer.card.title), say(answer.card.body).split("\n")[0]].join(" "));
      if (!document.activeElement || document.activeElement === document.body) this.message.focus();
    }
  }

  async #suggest() {
    const before = this.message.value;
    retext(this.said, t("Asking the model …"));
    const answer = await this.#busy(() => this.source.act("suggest", {}));
    if (answer && this.message.value === before) {
      this.message.value = answer.message; // what was typed meanwhile stays
      this.#messageChanged();
      if (!document.activeElement || document.activeElement === document.body) this.message.focus();
    }
    const words = answer && [
      t("Cost: {cost}", { cost: say(answer.cost) }),
      answer.left_out.length ? t("not shown to the model: {names}", { names: answer.left_out.join(", ") }) : "",
      answer.cut ? t("only the first part of the diff was sent") : "",
      this.message.value === answer.message ? "" : t("Your text was kept. Suggestion: “{text}”", { text: answer.message }),
    ];
    retext(this.said, words ? words.filter(Boolean).join(" · ") : "");
  }
}
