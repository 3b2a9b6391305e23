// The log of git: page by page, with the commits that were the agent's; a commit opens its diff.

import { button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { clock, day } from "../lib/time.js";
import { language, say, t } from "../i18n/translate.js";
import { diffView } from "../cards/diff_view.js";

export class GitLog {
  #commits = [];
  #head = "";
  #round = 0;

  /** @param {any} pane */
  constructor(pane) {
    this.pane = pane;
    this.list = h("div", { class: "commits" });
    this.draw = keyed(
      this.list,
      (commit) => commit.id,
      (commit) => this.#commit(commit),
    );
    this.more = button({ class: "small", hidden: true, on: { click: () => this.#load(false) } }, t("Show older commits"));
    this.how = h("p", {
      class: "muted how",
      text: t("“Agent” marks commits that a call or a background job made, as long as checkpoints keep that."),
    });
    this.element = h("section", { class: "git-log", "aria-label": t("Log") }, h("h2", { text: t("Log") }), this.how, this.list, this.more);
  }

  /** Follows the state of the repository: another HEAD has another log. @param {string} head */
  follow(head) {
    if (head === this.#head) return;
    this.#head = head;
    if (head) void this.#load(true);
    else this.#show([], false);
  }

  async #load(isNew) {
    const round = (this.#round += 1);
    const before = isNew ? [] : this.#commits;
    const answer = await this.pane.source.get("log", { skip: before.length });
    if (round !== this.#round) return;
    if (answer) this.#show([...before, ...answer.commits], answer.more);
    else this.#head = ""; // the next state asks again
  }

  #show(commits, hasMore) {
    const known = new Map(this.#commits.map((commit) => [commit.id, commit]));
    const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
    this.#commits = commits.map((one) => (isSame(known.get(one.id), one) ? known.get(one.id) : one));
    this.draw(this.#commits);
    this.more.hidden = !hasMore;
    this.how.hidden = this.element.hidden = !commits.length;
  }

  #commit(commit) {
    const agent = h("span", { class: "agent" });
    const names = h("span", { class: "names" });
    const body = h("div", { class: "commit-body" });
    const details = h(
      "details",
      { class: "file-body-changes" },
      h(
        "summary",
        {},
        icon("chevron", "turn"),
        h("span", { class: "name", text: commit.subject || t("(no message)") }),
        agent,
        names,
        h("span", { class: "where muted", text: `${commit.author} · ${day(commit.when, language)} ${clock(commit.when, language)} · ${commit.id.slice(0, 8)}` }),
      ),
      body,
    );
    let isLoaded = false;
    details.addEventListener("toggle", async () => {
      if (!details.open || isLoaded) return;
      isLoaded = true;
      const answer = await this.pane.source.get("commit", { commit: commit.id });
      if (answer) body.replaceChildren(...drawn(answer));
      else isLoaded = details.open = false;
    });
    const update = (now) => {
      agent.hidden = !now.agent;
      if (now.agent) retext(agent, t("Agent, turn {n}", { n: now.agent.turn }));
      names.hidden = !now.names.length;
      retext(names, now.names.join(" · "));
    };
    const element = h("div", { class: "file-changes commit", role: "group", "aria-label": commit.subject }, details);
    return { element, update };
  }
}

function drawn({ message, files, left_out }) {
  const file = ({ path, shown, hunks, note }) => [
    h("h3", { text: shown }),
    note ? h("p", { class: "note muted", text: say(note) }) : null,
    ...hunks.map((hunk) => diffView(hunk.diff, { path })),
  ];
  return [
    message.includes("\n") ? h("p", { class: "message", text: message }) : null,
    ...files.flatMap(file),
    left_out ? h("p", { class: "muted", text: t("… and {n:,} more", { n: left_out }) }) : null,
  ].filter(Boolean);
}
