// One open file: its text in an editor, or a preview; merging what changed meanwhile.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { size } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { api, fromServer } from "../net/api.js";
import { keep, kept } from "../lib/storage.js";
import { conflicts, merge } from "./merge.js";
import { loadMerge } from "../lib/vendor.js";
import { FileBar } from "./file_bar.js";
import { FileNotices } from "./file_notices.js";
import { PartBar } from "./part_bar.js";
import { isDocument, keepScroll, preview, previewKind } from "./preview.js";
import { WhyPanel } from "./why_panel.js";

const NO_TEXT = new Set(["image", "pdf", "audio", "video"]);
const PAUSE = 300; // ms without typing, after which it is kept
const LONGEST_DRAFT = 1_000_000; // characters that are kept over a reload
const NO_FILE = { hash: null, size: 0, encoding: "utf-8", newline: "\n", language: "", is_writable: true };

export class FileView {
  #base = { text: "", hash: null };
  #editor = null;
  #kind = "";
  #isPreview = false;
  #wantedLine = 0;
  #isLoading = null;
  #isLeft = false;
  /** @type {Promise<string | null> | null} tells whether a file that is shown without its text is another by now */
  #tag = null;
  /** @type {Promise<void> | null} a save that is under way */
  #saving = null;
  /** Looks at the file on disk, one after another: what was read first must not come last. */
  #looking = Promise.resolve();
  #keeping = 0;
  /** @type {PartBar | null} there for a file that is shown by part */
  #parts = null;
  #isUnanswered = false; // it was not read, for the server was away
  /** @type {WhyPanel | null} there while it is shown who wrote which line */
  #why = null;

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
    this.bar = new FileBar(app, path, {
      save: () => this.save(),
      preview: () => this.#togglePreview(),
      why: () => this.#toggleWhy(),
    });
    this.notices = new FileNotices();
    this.body = h(
      "div",
      { class: "file-body" },
      h("p", { class: "muted loading-note", text: t("Loading…") }),
    );
    this.element = h("div", { class: "file-view" }, this.bar.element, this.notices.element, this.body);
    this.#isLoading = this.#load();
  }

  async #load() {
    const kind = previewKind(this.path);
    if (NO_TEXT.has(kind) && !this.path.endsWith(".svg")) {
      this.#tag = api.tag(this.path);
      this.#preview(kind, "");
      return;
    }
    if (isDocument(this.path) && (await this.app.sessionIsThere())) return this.#drawDocument();
    try {
      await this.#read(kind);
    } catch (refusal) {
      if (refusal.code === "too_large") await this.#turn(1);
      else this.#cannotRead(refusal);
    }
  }

  /** Shows the pages of a document; text that only has the name of one is shown as what it is. */
  async #drawDocument() {
    let refusal = null;
    try {
      const { drawPages } = await fromServer(import("../results/document_pages.js"));
      refusal = await drawPages(this.body, this.path, this.app);
      if (refusal) await this.#read("");
    } catch (other) {
      if (!other.phrase) throw other;
      this.#refuse(other.status === 404 ? other : (refusal ?? other));
    }
  }

  /** Shows the part *number* of a file that is too large to be edited. @param {number} number */
  async #turn(number) {
    try {
      const part = await api.part(this.path, number);
      if (part.size <= this.app.state.status?.limits.text) return this.#leaveParts();
      this.file = { ...part, is_writable: false };
      this.bar.drawFacts(this.file);
      this.#base = { text: part.text, hash: null };
      const isSame = number === this.#parts?.number;
      this.#parts ??= new PartBar((wanted) => this.#turn(wanted));
      this.#parts.draw(part);
      if (!this.#editor) await this.#openEditor(this.file, part.text);
      if (isSame) this.#editor.replace(part.text);
      else this.#editor.turnTo(part.text, part.first_line);
      this.body.before(this.#parts.element);
      if (!this.#editor.element.isConnected) this.body.replaceChildren(this.#editor.element);
    } catch (refusal) {
      this.#parts?.element.remove();
      this.#cannotRead(refusal);
    }
  }

  /** Opens the file anew: it can be edited by now. */
  #leaveParts() {
    this.#parts?.element.remove();
    this.#editor?.destroy();
    this.#parts = this.#editor = null;
    this.#isLoading = this.#load();
  }

  /** Opens the text, with what was typed before a reload; the file may be another since, or gone. */
  async #read(kind) {
    const draft = kept(this.#draftName);
    const file = await api.text(this.path).catch((refusal) => {
      if (refusal.status !== 404 || !draft) throw refusal;
      return { ...NO_FILE, text: draft.base };
    });
    this.file = file;
    this.#base = draft ? { text: draft.base, hash: draft.hash } : { text: file.text, hash: file.hash };
    this.bar.drawFacts(this.file);
    this.#kind = kind;
    await this.#openEditor(file, draft?.text ?? file.text);
    if (file.hash === null) this.#gone();
    else if (file.hash !== this.#base.hash) await this.#mergeWith(file.text, file.hash);
    this.bar.previewButton.hidden = !kind;
    this.bar.whyButton.hidden = false;
    if (["csv", "image", "notebook"].includes(kind) && !this.#wantedLine) this.#togglePreview();
  }

  async #openEditor(file, text) {
    const { Editor } = await fromServer(import("./editor.js"));
    this.#editor = new Editor({
      text,
      language: file.language,
      isReadOnly: !file.is_writable,
      changed: () => this.#edited(),
      save: () => this.save(),
      selected: () => this.#selected(),
    });
    this.body.replaceChildren(this.#editor.element);
    this.#editor.showNotes(file.line_notes ?? []);
    this.#edited();
    if (this.#wantedLine) this.#editor.goTo(this.#wantedLine);
  }

  #selected() {
    this.#why?.tell(this.#editor.originHere);
    // What is on the screen is known only after the editor has drawn.
    requestAnimationFrame(() => {
      const found = this.#editor?.selection;
      this.app.emit("selected", found ? { ...found, path: this.path } : null);
    });
  }

  get #draftName() {
    return `file.${this.path}`;
  }

  #edited() {
    const isDirty = this.#editor.text !== this.#base.text;
    clearTimeout(this.#keeping);
    this.#keeping = setTimeout(() => this.keepDraft(), PAUSE);
    if (isDirty !== this.isDirty) {
      this.isDirty = isDirty;
      this.changed();
    }
    this.notices.drawConflicts(this.#editor);
    this.bar.saveButton.hidden = !isDirty;
  }

  /** Keeps what was typed over a reload. */
  keepDraft() {
    if (!this.#editor || this.#isLeft) return;
    const { text } = this.#editor;
    const { text: base, hash } = this.#base;
    keep(this.#draftName, text !== base && text.length < LONGEST_DRAFT ? { base, hash, text } : null);
  }

  #cannotRead(refusal) {
    const kind = previewKind(this.path) || refusal.body?.preview || "";
    if (refusal.code === "binary" && kind) {
      this.bar.facts.textContent = refusal.body.size ? size(refusal.body.size) : "";
      this.#preview(kind, "");
      return;
    }
    this.#refuse(refusal);
  }

  #refuse(refusal) {
    this.#isUnanswered = !refusal.status;
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

  #loadAnew() {
    this.#isUnanswered = false;
    this.#isLoading = this.#load();
  }

  show(line = 0) {
    this.#wantedLine = line;
    if (this.#isUnanswered) this.#loadAnew();
    if (line && this.#isPreview) this.#togglePreview();
    if (line) this.#editor?.goTo(line);
  }

  async isDrawn() {
    await this.#isLoading;
  }

  /** Where one goes on: the text, or what can be done with the file. */
  get place() {
    return this.#editor && !this.#isPreview ? this.#editor : this.bar.pinButton;
  }

  #preview(kind, text) {
    const top = this.body.querySelector(".preview")?.scrollTop ?? 0;
    this.body.replaceChildren(preview(kind, this.path, text, this.app));
    if (top) keepScroll(this.body.querySelector(".preview"), top);
  }

  #togglePreview() {
    this.#isPreview = !this.#isPreview;
    this.bar.previewButton.setAttribute("aria-pressed", String(this.#isPreview));
    if (this.#isPreview) this.#preview(this.#kind, this.#editor.text);
    else this.body.replaceChildren(this.#editor.element);
  }

  // --- who wrote which line --------------------------------------------------------------------------

  #toggleWhy() {
    if (this.#why) {
      this.#why.leave();
      this.#why = null;
      this.#editor.showOrigins([]);
    } else {
      this.#why = new WhyPanel(this.app, this.path, () => this.#toggleWhy());
      this.element.append(this.#why.element);
      this.#markOrigins();
    }
    this.bar.whyButton.setAttribute("aria-pressed", String(Boolean(this.#why)));
  }

  /** Marks anew what is as on the disk; the marks go along with what is typed. */
  #markOrigins() {
    this.#why?.mark(this.#editor, () => this.#base.text);
  }

  // --- saving and merging ----------------------------------------------------------------------------

  async save() {
    while (this.#saving) await this.#saving; // more may have been typed meanwhile
    if (!this.#editor || !this.isDirty) return;
    if (conflicts(this.#editor.text).length) {
      this.app.notice(t("Resolve the conflicts first."), true);
      return;
    }
    this.#saving = this.#save();
    try {
      await this.#saving;
    } finally {
      this.#saving = null;
    }
  }

  async #save() {
    const text = this.#editor.text;
    try {
      const saved = await api.save(this.path, text, this.#base.hash);
      this.#base = { text: saved.text ?? text, hash: saved.hash };
      // What was just typed may be a secret now: only its name is shown from here on.
      if (saved.text !== undefined && this.#editor.text === text) this.#editor.replace(saved.text);
      this.file.size = saved.size;
      this.bar.drawFacts(this.file);
      this.notices.clear();
      this.#edited();
      this.#markOrigins();
      this.app.notice(t("Saved."));
    } catch (refusal) {
      if (refusal.code !== "changed") this.app.fail(refusal);
      else if (refusal.body.text === null) this.#gone();
      else await this.#mergeWith(refusal.body.text, refusal.body.hash);
    }
  }

  /** The file on disk is another now: take it over, or merge it with what was typed. */
  changedOutside() {
    const look = () => this.#look();
    this.#looking = this.#looking.then(look, look);
  }

  async #look() {
    await this.#isLoading;
    if (this.#parts) return this.#turn(this.#parts.number);
    if (!this.#editor) {
      if (await this.#isAsShown()) return; // a PDF would lose its place, and a sound begin anew
      this.#isLoading = this.#load();
      return;
    }
    const file = await this.#onDisk();
    if (file.status === 404) this.#gone();
    if (file.line_notes && file.hash === this.#base.hash) this.#editor.showNotes(file.line_notes);
    if (file.hash === undefined || file.hash === this.#base.hash) return;
    this.file = file;
    this.bar.drawFacts(this.file);
    if (this.isDirty) await this.#mergeWith(file.text, file.hash);
    else {
      this.notices.clear();
      this.#base = { text: file.text, hash: file.hash };
      this.#editor.replace(file.text);
      this.#editor.showNotes(file.line_notes ?? []);
      this.#markOrigins();
      if (this.#isPreview) this.#preview(this.#kind, file.text);
    }
  }

  /** Whether a file that is shown without its text has the bytes that it was shown with. */
  async #isAsShown() {
    if (!this.#tag) return false;
    const [before, now] = [await this.#tag, await api.tag(this.path)];
    return Boolean(now) && before === now;
  }

  /** Returns the file as it is now, or the refusal; none of it is older than what was saved meanwhile. */
  async #onDisk() {
    for (;;) {
      await this.#saving; // it may be what changed the file
      const base = this.#base;
      const file = await api.text(this.path).catch((refusal) => refusal);
      if (!this.#saving && base === this.#base) return file;
    }
  }

  #gone() {
    this.#base = { text: this.#base.text, hash: null };
    this.notices.tell(t("The file was deleted on disk. Saving creates it again."));
  }

  async #mergeWith(theirs, hash) {
    const { diff3Merge } = await loadMerge();
    const { text, conflicts: count } = merge(this.#editor.text, this.#base.text, theirs, (a, o, b) =>
      diff3Merge(a, o, b),
    );
    this.#base = { text: theirs, hash };
    this.#editor.replace(text);
    this.#edited();
    this.#markOrigins();
    this.notices.tell(
      count
        ? t("The file changed on disk in the same lines. Choose below.")
        : t("The file changed on disk. Both changes are merged here; save to keep them."),
    );
  }

  leave() {
    this.#isLeft = true;
    clearTimeout(this.#keeping);
    keep(this.#draftName, null);
    this.bar.leave();
    this.#editor?.destroy();
    this.element.remove();
  }
}
