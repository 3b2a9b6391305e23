// The right pane: changes, open files, other tabs.

import { button, h, keyed } from "../lib/dom.js";
import { typedAhead } from "../keyboard/type_ahead.js";
import { icon } from "../lib/icons.js";
import { nameOf, visible } from "../lib/format.js";
import { keep, kept } from "../lib/storage.js";
import { t } from "../i18n/translate.js";

const OPEN = "open files";

/** @param {import("../app.js").App} app */
export function pane(app) {
  return new Pane(app);
}

class Pane {
  /** @type {Map<string, import("../editor/file_view.js").FileView>} */
  #files = new Map();
  #shown = ""; // "" is the list of changes
  /** Files that were open before a reload, until they are again. */
  #before = kept(OPEN);

  constructor(app) {
    this.app = app;
    this.tabs = h("div", { class: "pane-tabs" });
    this.slot = h("div", { class: "pane-slot" });
    this.body = h("div", { class: "pane-body" }, this.slot);
    this.changes = h("div", { class: "changes" });
    import("../changes/changes.js").then(({ changesView }) => (this.list = changesView(app, this.changes)));
    this.closeButton = button(
      {
        class: "quiet tiny",
        title: t("Close the pane"),
        "aria-label": t("Close the pane"),
        on: { click: () => app.emit("pane", false) },
      },
      icon("close"),
    );
    this.element = h(
      "section",
      { class: "pane", "aria-label": t("Files and changes") },
      h("header", { class: "bar" }, this.tabs, this.closeButton),
      this.body,
    );
    this.drawTabs = keyed(
      this.tabs,
      (tab) => tab.path,
      (tab) => this.#tab(tab),
    );
    app.on("open", (wanted) => {
      const opened = this.open(wanted);
      if (wanted.isEntered) void typedAhead(opened, (file) => file.place);
    });
    const choose = (path = this.#shown) => this.#show(path);
    app.on("preview", async (served) => (await import("../previews/previews.js")).open(this, served, choose));
    app.on("git", async () => (await import("../git/git_pane.js")).openGit(this, choose));
    app.on("results", async () => (await import("../results/results_pane.js")).openResults(this, choose));
    this.offerTerminals = async () =>
      (await import("../terminal/terminals.js")).offerTerminals(app, this, choose);
    app.on("changes", () => this.#show(""));
    app.on("files", (change) => this.#changed(change));
    app.showsChange = (path) =>
      !this.#shown && !this.element.closest(".no-pane, [data-shown]") && Boolean(this.list?.paths.includes(path));
    app.shownPaths = () => [...this.#files.keys(), ...(this.list?.paths ?? [])];
    this.#show("");
    addEventListener("pagehide", () => this.#files.forEach((file) => file.keepDraft()));
    addEventListener("beforeunload", (event) => {
      if ([...this.#files.values()].some((file) => file.isDirty)) event.preventDefault();
    });
  }

  /**
   * @param {{path: string, line?: number, isEntered?: boolean}} wanted entered: takes the focus
   * @returns {Promise<import("../editor/file_view.js").FileView>} once it is drawn
   */
  async open({ path, line = 0 }) {
    this.app.emit("pane", true);
    await this.#add([path]);
    this.#show(path);
    const file = this.#files.get(path);
    file.show(line);
    await file.isDrawn();
    return file;
  }

  /** Opens the files of before a reload. */
  async restore() {
    if (!this.#before) return;
    const { paths, shown } = this.#before;
    await this.#add(paths);
    this.#before = null;
    if (!this.#shown && this.#files.has(shown)) this.#show(shown);
    else this.#draw();
  }

  async #add(paths) {
    const { FileView } = await import("../editor/file_view.js");
    for (const path of paths)
      if (!this.#files.has(path))
        this.#files.set(path, new FileView(this.app, path, () => this.#draw()));
    this.app.emit("watch");
  }

  #show(path) {
    this.#shown = path;
    const view = path ? this.#files.get(path)?.element : this.changes;
    if (view) this.#place(view);
    this.views?.show(path);
    this.app.emit("shown", path);
    this.#draw();
  }

  /** Shows *view* alone. A frame that leaves the page loads anew: what has one stays, out of sight. */
  #place(view) {
    for (const other of [...this.slot.children]) {
      if (other === view) continue;
      if (other.querySelector("iframe")) other.hidden = true;
      else other.remove();
    }
    view.hidden = false;
    if (view.parentElement !== this.slot) this.slot.append(view);
  }

  async #close(path) {
    const file = this.#files.get(path);
    if (!file) return this.views.close(path);
    const question = t("{name} has unsaved changes. Close anyway?", {
      name: visible(nameOf(path)),
    });
    if (file.isDirty) {
      const { confirmed } = await import("../dialogs/dialog.js");
      if (!(await confirmed(question, t("Close without saving")))) return;
    }
    file.leave();
    this.#files.delete(path);
    if (this.#shown === path) this.#show([...this.#files.keys()].at(-1) ?? "");
    else this.#draw();
    this.app.emit("watch");
  }

  #draw() {
    const tab = (path) => ({
      path,
      isShown: path === this.#shown,
      isDirty: Boolean(this.#files.get(path)?.isDirty),
    });
    this.drawTabs(["", ...(this.views?.keys() ?? []), ...this.#files.keys()].map(tab));
    this.tabs.querySelector(".shown")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.app.emit("opened", this.tabs.childElementCount - 1);
    if (!this.#before) keep(OPEN, { paths: [...this.#files.keys()], shown: this.#shown });
  }

  #tab({ path }) {
    const name = path ? visible(nameOf(path)) : t("Changes");
    const dot = h("span", { class: "dirty", title: t("Not saved") });
    const choose = button(
      { class: "tab", title: this.views?.has(path) ? name : visible(path), on: { click: () => this.#show(path) } },
      path ? "" : icon("changes"),
      h("span", { text: name }),
      path ? dot : "",
    );
    const close = path
      ? button(
          {
            class: "quiet tiny",
            "aria-label": t("Close {name}", { name }),
            title: t("Close"),
            on: { click: () => this.#close(path) },
          },
          icon("close"),
        )
      : "";
    const element = h("div", { class: "pane-tab" }, choose, close);
    choose.addEventListener("auxclick", (event) => {
      if (event.button === 1 && path) this.#close(path);
    });
    const update = (tab) => {
      element.classList.toggle("shown", tab.isShown);
      choose.setAttribute("aria-current", String(tab.isShown));
      dot.hidden = !tab.isDirty;
    };
    return { element, update };
  }

  #changed({ folders, paths }) {
    const all = folders.includes("*");
    const touched = new Set(paths.flatMap(({ path, new_path }) => [path, new_path]));
    for (const [path, file] of this.#files) if (all || touched.has(path)) file.changedOutside();
  }

  /** @returns {boolean} whether a file was shown */
  save() {
    const file = this.#files.get(this.#shown);
    file?.save();
    return Boolean(file);
  }

  closeShown() {
    if (this.#shown) this.#close(this.#shown);
  }
}
