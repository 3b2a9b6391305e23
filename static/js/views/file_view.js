// One open file: its text in an editor, or a preview; merging what changed meanwhile.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folderOf, nameOf, size, visible } from "../lib/format.js";
import { say, t } from "../lib/words.js";
import { api } from "../net/api.js";
import { conflicts, merge, settled } from "../lib/merge.js";
import { loadMerge } from "../lib/vendor.js";
import { preview, previewKind } from "./preview.js";

const NO_TEXT = new Set(["image", "pdf", "audio", "video"]);

export class FileView {
  #base = { text: "", hash: null };
  #editor = null;
  #kind = "";
  #isPreview = false;
  #wantedLine = 0;
  #isLoading = null;
  #isSaving = false;

  /**
   * @param {import("../app.js").App} app
   * @param {string} path
   * @param {() => void} changed is called when `isDirty` may be another
   */
  constructor(app, path, changed) {
    this.app = app;
    this.path = path;
    this.changed = changed;
    this.isDirty = false;
    this.facts = h("span", { class: "muted facts" });
    this.saveButton = button(
      { class: "primary small", hidden: true, on: { click: () => this.save() } },
      t("Save"),
    );
    this.previewButton = button(
      { class: "small", hidden: true, "aria-pressed": "false", on: { click: () => this.#togglePreview() } },
      t("Preview"),
    );
    this.pinButton = button({ class: "quiet tiny", on: { click: () => this.#toggleFocus() } }, icon("pin"));
    this.bar = h(
      "div",
      { class: "file-bar" },
      h(
        "span",
        { class: "crumbs", title: visible(path) },
        h("span", { class: "muted", text: folderOf(path) ? `${visible(folderOf(path))}/` : "" }),
        h("b", { text: visible(nameOf(path)) }),
      ),
      this.facts,
      h("span", { class: "gap" }),
      this.previewButton,
      this.pinButton,
      button(
        {
          class: "quiet tiny",
          title: t("Reveal in the tree"),
          "aria-label": t("Reveal in the tree"),
          on: { click: () => app.tell("reveal", path) },
        },
        icon("sidebar"),
      ),
      h(
        "a",
        {
          class: "button quiet tiny",
          href: api.downloadAddress(path),
          title: t("Download"),
          "aria-label": t("Download"),
        },
        icon("download"),
      ),
      this.saveButton,
    );
    this.notices = h("div", { class: "file-notices" });
    this.body = h(
      "div",
      { class: "file-body" },
      h("p", { class: "muted loading-note", text: t("Loading…") }),
    );
    this.element = h("div", { class: "file-view" }, this.bar, this.notices, this.body);
    this.forgetApp = app.show(() => this.#drawPin());
    this.#isLoading = this.#load();
  }

  get #focus() {
    return this.app.known.state?.focus?.find(({ path }) => path === this.path);
  }

  #drawPin() {
    const focus = this.#focus;
    const words = focus ? t("In focus: {n} tokens", { n: focus.tokens }) : t("Put into focus");
    if (this.pinButton.title === words) return;
    this.pinButton.title = words;
    this.pinButton.setAttribute("aria-label", words);
    this.pinButton.setAttribute("aria-pressed", String(Boolean(focus)));
  }

  #toggleFocus() {
    this.app.attempt(() => api.focus(this.app.known.session, this.path, !this.#focus));
  }

  async #load() {
    const kind = previewKind(this.path);
    if (NO_TEXT.has(kind) && !this.path.endsWith(".svg")) {
      this.body.replaceChildren(preview(kind, this.path, ""));
      return;
    }
    try {
      const file = await api.text(this.path);
      this.#base = { text: file.text, hash: file.hash };
      this.file = file;
      this.#drawFacts();
      this.#kind = kind;
      await this.#openEditor(file);
      this.previewButton.hidden = !this.#kind;
      if (this.#kind === "csv" || this.#kind === "image") this.#togglePreview();
    } catch (refusal) {
      this.#cannotRead(refusal);
    }
  }

  #drawFacts() {
    const { file } = this;
    this.facts.textContent = [
      size(file.size),
      !/^utf-8(, lf)?$/i.test(file.encoding) && file.encoding,
      file.newline === "\r\n" && "CRLF",
      !file.is_writable && t("read-only"),
    ]
      .filter(Boolean)
      .join(" · ");
  }

  async #openEditor(file) {
    const { Editor } = await import("./editor.js");
    this.#editor = new Editor({
      text: this.#draft ?? file.text,
      language: file.language,
      isReadOnly: !file.is_writable,
      changed: () => this.#edited(),
      save: () => this.save(),
      selected: () => this.#selected(),
    });
    this.body.replaceChildren(this.#editor.element);
    this.#edited();
    if (this.#wantedLine) this.#editor.goTo(this.#wantedLine);
  }

  #selected() {
    // What is on the screen is known only after the editor has drawn.
    requestAnimationFrame(() => {
      const found = this.#editor?.selection;
      this.app.tell("selected", found ? { ...found, path: this.path } : null);
    });
  }

  /** What was typed before a reload and not saved. */
  get #draft() {
    const kept = JSON.parse(sessionStorage.getItem(`file.${this.path}`) ?? "null");
    return kept?.hash === this.#base.hash ? kept.text : null;
  }

  #edited() {
    const text = this.#editor.text;
    const isDirty = text !== this.#base.text;
    if (isDirty && text.length < 1_000_000)
      sessionStorage.setItem(`file.${this.path}`, JSON.stringify({ hash: this.#base.hash, text }));
    else sessionStorage.removeItem(`file.${this.path}`);
    if (isDirty !== this.isDirty) {
      this.isDirty = isDirty;
      this.changed();
    }
    this.#drawConflicts();
    this.saveButton.hidden = !isDirty;
  }

  #cannotRead(refusal) {
    const kind = previewKind(this.path) || refusal.body?.preview || "";
    if (refusal.code === "binary" && kind) {
      this.facts.textContent = refusal.body.size ? size(refusal.body.size) : "";
      this.body.replaceChildren(preview(kind, this.path, ""));
      return;
    }
    this.body.replaceChildren(
      h(
        "div",
        { class: "pane-empty" },
        icon("file"),
        h("p", { text: say(refusal.phrase) }),
        refusal.status === 404
          ? null
          : h("p", {}, h("a", { href: api.downloadAddress(this.path), text: t("Download") })),
      ),
    );
  }

  show(line = 0) {
    this.#wantedLine = line;
    if (line && this.#isPreview) this.#togglePreview();
    if (line) this.#editor?.goTo(line);
  }

  #togglePreview() {
    this.#isPreview = !this.#isPreview;
    this.previewButton.setAttribute("aria-pressed", String(this.#isPreview));
    this.body.replaceChildren(
      this.#isPreview ? preview(this.#kind, this.path, this.#editor.text) : this.#editor.element,
    );
  }

  // --- saving and merging ----------------------------------------------------------------------------

  async save() {
    if (!this.#editor || this.#isSaving || !this.isDirty) return;
    if (conflicts(this.#editor.text).length) {
      this.app.notice(t("Settle the conflicts first."), true);
      return;
    }
    this.#isSaving = true;
    const text = this.#editor.text;
    try {
      const saved = await api.save(this.path, text, this.#base.hash);
      this.#base = { text: saved.text ?? text, hash: saved.hash };
      // What was just typed may be a secret now: only its name is shown from here on.
      if (saved.text !== undefined && this.#editor.text === text) this.#editor.replace(saved.text);
      this.file.size = saved.size;
      this.#drawFacts();
      this.#notice?.remove();
      this.#edited();
      this.app.notice(t("Saved."));
    } catch (refusal) {
      if (refusal.code !== "changed") this.app.fail(refusal);
      else if (refusal.body.text === null) this.#gone();
      else await this.#mergeWith(refusal.body.text, refusal.body.hash);
    } finally {
      this.#isSaving = false;
    }
  }

  /** The file on disk is another now: take it over, or merge it with what was typed. */
  async changedOutside() {
    await this.#isLoading;
    if (!this.#editor) {
      this.#isLoading = this.#load();
      return;
    }
    const file = await api.text(this.path).catch((refusal) => refusal);
    if (file.status === 404) this.#gone();
    if (file.hash === undefined || file.hash === this.#base.hash) return;
    this.file = file;
    this.#drawFacts();
    if (this.isDirty) await this.#mergeWith(file.text, file.hash);
    else {
      this.#base = { text: file.text, hash: file.hash };
      this.#editor.replace(file.text);
      if (this.#isPreview) this.body.replaceChildren(preview(this.#kind, this.path, file.text));
    }
  }

  #gone() {
    this.#base = { text: this.#base.text, hash: null };
    this.#tell(t("The file is gone from the disk; saving makes it again."));
  }

  async #mergeWith(theirs, hash) {
    const { diff3Merge } = await loadMerge();
    const { text, conflicts: count } = merge(this.#editor.text, this.#base.text, theirs, (a, o, b) =>
      diff3Merge(a, o, b),
    );
    this.#base = { text: theirs, hash };
    this.#editor.replace(text);
    this.#edited();
    this.#tell(
      count
        ? t("The file changed on disk meanwhile, in the same lines: choose below.")
        : t("The file changed on disk meanwhile; both changes are in the text now. Save to keep them."),
    );
  }

  #tell(words) {
    const close = button(
      { class: "quiet tiny", "aria-label": t("Close"), on: { click: () => note.remove() } },
      icon("close"),
    );
    const note = h(
      "p",
      { class: "file-notice", role: "alert" },
      icon("alert"),
      h("span", { text: words }),
      close,
    );
    this.#notice?.remove();
    this.notices.prepend(note);
  }

  get #notice() {
    return this.notices.querySelector(".file-notice");
  }

  #drawConflicts() {
    this.notices.querySelector(".conflicts")?.remove();
    const found = conflicts(this.#editor.text);
    if (!found.length) return;
    const settle = (choice) => () =>
      this.#editor.replaceRange(found[0].from, found[0].to, settled(found[0], choice));
    this.notices.append(
      h(
        "div",
        { class: "conflicts", role: "group", "aria-label": t("Conflict") },
        h("span", { text: t("Conflict 1 of {n}", { n: found.length }) }),
        button({ class: "small", on: { click: () => this.#editor.goToOffset(found[0].from) } }, t("Show")),
        button({ class: "small", on: { click: settle("mine") } }, t("Keep yours")),
        button({ class: "small", on: { click: settle("theirs") } }, t("Keep the disk's")),
        button({ class: "small", on: { click: settle("both") } }, t("Keep both")),
      ),
    );
  }

  leave() {
    sessionStorage.removeItem(`file.${this.path}`);
    this.forgetApp();
    this.#editor?.destroy();
  }
}
