// The file tree: folders are listed when they are opened, and only the rows in sight exist.

import { button, h, watchFocus } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folderOf, nameOf } from "../lib/format.js";
import { t } from "../i18n/translate.js";
import { Folders } from "./folders.js";
import { foldersAbove, rowsOf, rowsOfFound } from "./tree_model.js";
import { remember, remembered } from "../lib/storage.js";
import { treeKeys } from "./tree_keys.js";
import { TreeRows } from "./tree_rows.js";

const GLOW = 2500; // ms for which a file shines that the agent just wrote
const MOST = 300; // files that the filter shows

/** @param {import("../app.js").App} app */
export function fileTree(app) {
  return new FileTree(app);
}

class FileTree {
  #wanted = "";
  /** @type {import("./tree_model.js").Rows | null} what the filter left, null: all folders */
  #found = null;
  #searches = 0;
  #isDue = false;
  /** @type {Promise<any> | null} */
  #menu = null;

  constructor(app) {
    this.app = app;
    this.view = new TreeRows((folder, place) => this.folders.need(folder, place));
    this.folders = new Folders({
      session: () => app.state.session,
      changed: () => this.#refresh(),
      inSight: (folder) => this.#inSight(folder),
      listed: (isEmpty) => this.#tell(isEmpty ? t("This folder is empty.") : ""),
      failed: () => this.#tell(t("Could not list the files.")),
    });
    this.folders.showsHidden = remembered("hidden") === "1";
    this.filter = h("input", {
      type: "search",
      placeholder: t("Filter files"),
      "aria-label": t("Filter files"),
      spellcheck: "false",
      on: { input: () => this.#filter(), keydown: (event) => this.#leaveFilter(event) },
    });
    this.hiddenSwitch = button(
      { class: "quiet tiny", on: { click: () => this.#toggleHidden() } },
      icon("eye"),
    );
    this.note = h("p", { class: "muted tree-note", hidden: true });
    this.element = h(
      "section",
      { class: "files", "aria-label": t("Project") },
      h("header", { class: "bar" }, this.filter, this.hiddenSwitch, ...this.#buttons()),
      this.note,
      this.view.element,
    );
    this.#listen();
  }

  #buttons() {
    const small = (picture, words, click) =>
      button({ class: "quiet tiny", title: words, "aria-label": words, on: { click } }, icon(picture));
    return [
      small("add", t("New file or folder"), ({ currentTarget }) =>
        this.#withMenu((menu) => menu.create(currentTarget, this.#folderOfCurrent())),
      ),
      small("refresh", t("Refresh"), () => this.#relistAll()),
    ];
  }

  #listen() {
    const { element } = this.view;
    element.addEventListener("click", (event) => this.#clicked(event));
    element.addEventListener("contextmenu", (event) => this.#menuAt(event));
    treeKeys(this.view, {
      activate: (row) => this.#activate(row),
      toggle: (row, open) => this.#toggle(row, open),
      moveTo: (index) => this.view.moveTo(index),
      menu: (row) => this.#withMenu((menu) => menu.open(row)),
      rename: (row) => this.#withMenu((menu) => menu.rename(row)),
    });
    this.app.on("files", (change) => this.#changed(change));
    this.app.on("session", () => this.#relistAll());
    this.app.on("shown", (path) => this.#mark(path));
    this.app.on("reveal", (path) => this.reveal(path));
    this.app.on("watch", () => this.#watch());
    this.#listenToState();
  }

  #listenToState() {
    let focus = null;
    let isLive = false; // after the first time it is told that anything may have changed
    this.app.subscribe(({ sessionState, link }) => {
      const focused = JSON.stringify(sessionState?.focus ?? []);
      if (focused !== focus && focus !== null) this.#relistAll();
      focus = focused;
      if (link === "live" && !isLive) this.#relistAll();
      isLive ||= link === "live";
    });
  }

  // --- what there is -------------------------------------------------------------------------------

  /** The places in *folder* of the rows in sight, and of the one the keyboard is on. */
  #inSight(folder) {
    if (this.#found) return [];
    const indexes = [...this.view.inSight, this.view.currentIndex].filter((index) => index >= 0);
    return indexes
      .map((index) => this.view.rows.at(index))
      .filter((row) => row.folder === folder)
      .map((row) => row.place - 1);
  }

  #tell(words) {
    this.note.textContent = words;
    this.note.hidden = !words;
  }

  #relistAll() {
    this.app.finder.forget();
    if (this.#wanted) this.#search();
    this.folders.relistAll();
  }

  async #changed({ by, folders, paths }) {
    if (this.#wanted) this.#search();
    await this.folders.happened(folders); // nothing shines before it is there
    if (by !== "agent") return;
    for (const { path, new_path } of paths) this.#shine(new_path || path);
  }

  #shine(path) {
    this.view.glow.add(path);
    this.#refresh();
    setTimeout(() => {
      this.view.glow.delete(path);
      this.#refresh();
    }, GLOW);
  }

  #watch() {
    const paths = new Set([...(this.app.shownPaths?.() ?? []), ...(this.app.receiptPaths ?? [])]);
    this.app.connection.watch(this.folders.open, [...paths]);
  }

  #refresh() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.view.show(this.#found ?? rowsOf(this.folders.tree));
      this.#watch();
    });
  }

  // --- finding -------------------------------------------------------------------------------------

  #filter() {
    if (!this.#wanted) this.app.finder.forget(); // what came since nobody looked is to be found, too
    this.#wanted = this.filter.value.trim();
    this.view.element.scrollTop = 0;
    if (this.#wanted) this.#search();
    else this.#showFolders();
  }

  /** Escape empties the filter, then leaves it; it stops nothing. */
  #leaveFilter(event) {
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.filter.value) return this.focus();
    this.filter.value = "";
    this.#filter();
  }

  #showFolders() {
    this.#searches += 1;
    this.#wanted = "";
    this.#found = null;
    this.#tell("");
    this.#refresh();
  }

  async #search() {
    const search = (this.#searches += 1);
    const paths = await this.app.attempt(() => this.app.finder.find(this.#wanted, MOST));
    if (search !== this.#searches) return; // something else is wanted meanwhile
    this.#found = rowsOfFound(paths ?? []);
    this.#tell(paths && !paths.length ? t("No matching files.") : "");
    this.#refresh();
  }

  /** Opens the folders above *path* and goes to it. @param {string} path */
  async reveal(path) {
    const isUnmoved = watchFocus();
    this.filter.value = "";
    this.#showFolders();
    const folders = foldersAbove(path);
    for (const [index, folder] of folders.entries())
      await this.folders.reach(folder, nameOf(folders[index + 1] ?? path));
    this.view.show(rowsOf(this.folders.tree));
    const index = this.view.rows.indexOf(path);
    if (index >= 0) this.view.moveTo(index);
    if (isUnmoved()) this.view.element.focus();
  }

  // --- acting --------------------------------------------------------------------------------------

  #rowAt(event) {
    return this.view.row(event.target.closest?.(".node")?.dataset.path);
  }

  #clicked(event) {
    const row = this.#rowAt(event);
    if (!row) return;
    this.view.current = row.path;
    this.#activate(row);
  }

  #activate(row) {
    if (row.entry.kind === "folder") this.#toggle(row, !row.isOpen);
    else this.app.emit("open", { path: row.path });
    this.#refresh();
  }

  #toggle(row, open) {
    if (open) this.folders.expand(row.path);
    else this.folders.collapse(row.path);
    this.#refresh();
  }

  #menuAt(event) {
    const row = this.#rowAt(event);
    if (!row) return;
    event.preventDefault();
    this.view.current = row.path;
    this.view.draw();
    this.#withMenu((menu) => menu.open(row));
  }

  /** Does *work* with the menu, which comes when it is first needed. */
  async #withMenu(work) {
    this.#menu ??= import("./file_menu.js").then(({ FileMenu }) => {
      const menu = new FileMenu(this.app, this.view);
      this.element.append(menu.element);
      return menu;
    });
    this.#menu.catch(() => (this.#menu = null)); // the next click tries again
    work(await this.#menu);
  }

  #folderOfCurrent() {
    const row = this.view.row(this.view.current);
    if (!row) return "";
    return row.entry.kind === "folder" && row.isOpen ? row.path : folderOf(row.path);
  }

  #toggleHidden() {
    this.folders.show(!this.folders.showsHidden);
    remember("hidden", this.folders.showsHidden ? "1" : null);
    this.#drawHiddenSwitch();
  }

  #drawHiddenSwitch() {
    const words = t("Show hidden and ignored files");
    this.hiddenSwitch.title = words;
    this.hiddenSwitch.setAttribute("aria-label", words);
    this.hiddenSwitch.setAttribute("aria-pressed", String(this.folders.showsHidden));
  }

  #mark(path) {
    this.view.shown = path;
    this.#refresh();
  }

  focus() {
    this.view.element.focus();
  }

  start() {
    this.#drawHiddenSwitch();
  }

  /** The folder that a file dropped here goes into; null beside the tree. @param {DragEvent} event */
  folderAt(event) {
    if (!event.composedPath().includes(this.view.element)) return null;
    const row = this.#rowAt(event);
    if (!row) return "";
    return row.entry.kind === "folder" ? row.path : folderOf(row.path);
  }
}
