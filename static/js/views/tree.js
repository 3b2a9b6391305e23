// The file tree: folders are listed when they are opened, and only the rows in sight exist.

import { attribute, button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { nameOf, folderOf } from "../lib/format.js";
import { t } from "../lib/words.js";
import { api } from "../net/api.js";
import { emptyTree, foldersAbove, matching, visibleRows } from "../state/tree.js";
import { remember, remembered } from "../lib/memory.js";
import { upload } from "./upload.js";
import { FileMenu } from "./file_menu.js";
import { treeRow } from "./tree_row.js";

const SPARE = 8; // rows drawn beyond the edges

/** @param {import("../app.js").App} app */
export function fileTree(app) {
  return new FileTree(app);
}

class FileTree {
  #tree = { ...emptyTree(), showsHidden: remembered("hidden") === "1" };
  #rows = [];
  #current = "";
  #wanted = "";
  #paths = null;
  #shown = "";
  #relisting = new Set();
  #glow = new Map();
  #isDue = false;

  constructor(app) {
    this.app = app;
    this.menu = new FileMenu(app);
    this.filter = h("input", {
      type: "search",
      placeholder: t("Filter files"),
      "aria-label": t("Filter files"),
      spellcheck: "false",
      on: { input: () => this.#filter() },
    });
    this.hiddenSwitch = button(
      { class: "quiet tiny", on: { click: () => this.#toggleHidden() } },
      icon("eye"),
    );
    this.canvas = h("div", { class: "tree-canvas", role: "presentation" });
    this.scroller = h(
      "div",
      { class: "tree", role: "tree", "aria-label": t("Files"), tabIndex: 0 },
      this.canvas,
    );
    this.note = h("p", { class: "muted tree-note", hidden: true });
    this.element = h(
      "section",
      { class: "files", "aria-label": t("Project") },
      h(
        "header",
        { class: "bar" },
        this.filter,
        this.hiddenSwitch,
        button(
          {
            class: "quiet tiny",
            title: t("New file or folder"),
            "aria-label": t("New file or folder"),
            on: { click: (event) => this.menu.create(event.currentTarget, this.#folderOfCurrent()) },
          },
          icon("add"),
        ),
        button(
          {
            class: "quiet tiny",
            title: t("Refresh"),
            "aria-label": t("Refresh"),
            on: { click: () => this.#relistAll() },
          },
          icon("refresh"),
        ),
      ),
      this.note,
      this.scroller,
      this.menu.element,
    );
    this.#listen();
  }

  #listen() {
    this.scroller.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.#pressed(event));
    this.scroller.addEventListener("click", (event) => this.#clicked(event));
    this.scroller.addEventListener("contextmenu", (event) => this.#menuAt(event));
    this.#listenForDrops();
    new ResizeObserver(() => this.#draw()).observe(this.scroller);
    this.app.on("files", (change) => this.#changed(change));
    this.app.on("session", () => this.#relistAll());
    this.app.on("shown", (path) => this.#mark(path));
    this.app.on("reveal", (path) => this.reveal(path));
    this.app.on("watch", () => this.#watch());
    let focus = null;
    let link = "";
    this.app.show(({ state, link: now }) => {
      if (JSON.stringify(state?.focus ?? []) !== focus) {
        if (focus !== null) this.#relistAll();
        focus = JSON.stringify(state?.focus ?? []);
      }
      if (now === "live" && link !== "live") this.#relistAll();
      link = now;
    });
  }

  // --- listing -------------------------------------------------------------------------------------

  async #list(folder) {
    const entries = await api.folder(folder, this.app.known.session).then(
      (answer) => answer.entries,
      (refusal) => {
        if (refusal.status === 404) {
          this.#tree.listed.delete(folder);
          this.#tree.open.delete(folder);
        } else if (folder === "") this.#tell(t("The files could not be listed."));
        return null;
      },
    );
    if (entries) {
      this.#tree.listed.set(folder, entries);
      if (folder === "") this.#tell(entries.length ? "" : t("This folder is empty."));
    }
    this.#refresh();
    return entries;
  }

  #tell(words) {
    this.note.textContent = words;
    this.note.hidden = !words;
  }

  #relistAll() {
    this.#paths = null;
    for (const folder of this.#openFolders()) this.#relist(folder);
  }

  #openFolders() {
    return ["", ...[...this.#tree.listed.keys()].filter((folder) => folder && this.#tree.open.has(folder))];
  }

  /** Lists *folder* anew, at most four times a second. */
  #relist(folder) {
    if (this.#relisting.has(folder)) return;
    this.#relisting.add(folder);
    setTimeout(() => {
      this.#relisting.delete(folder);
      this.#list(folder);
    }, 60);
  }

  #changed({ by, folders, paths }) {
    this.#paths = null;
    const all = folders.includes("*");
    const touched = new Set(folders.flatMap((folder) => [folder, ...foldersAbove(folder)])); // badges of folders tell of what is below
    for (const folder of this.#openFolders()) if (all || touched.has(folder)) this.#relist(folder);
    for (const folder of this.#tree.listed.keys())
      if (!this.#tree.open.has(folder) && (all || folders.includes(folder))) this.#tree.listed.delete(folder);
    if (by !== "agent") return;
    for (const { path, new_path } of paths) this.#shine(new_path || path);
  }

  #shine(path) {
    this.#glow.set(path, Date.now());
    this.#refresh();
    setTimeout(() => {
      this.#glow.delete(path);
      this.#refresh();
    }, 2500);
  }

  #watch() {
    const files = this.app.openPaths?.() ?? [];
    this.app.connection?.watch(this.#openFolders(), files);
  }

  // --- drawing -------------------------------------------------------------------------------------

  #refresh() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#rows = this.#wanted ? this.#foundRows() : visibleRows(this.#tree);
      this.#draw();
      this.#watch();
    });
  }

  #foundRows() {
    const found = matching(this.#paths ?? [], this.#wanted);
    this.#tell(this.#paths && !found.length ? t("No file is called so.") : "");
    return found.map((path, index) => ({
      path,
      depth: 1,
      isOpen: false,
      isLoading: false,
      place: index + 1,
      siblings: found.length,
      isFound: true,
      entry: { name: nameOf(path), kind: "file", git: "", note: "", focus: false },
    }));
  }

  get #height() {
    return matchMedia("(pointer: coarse)").matches ? 44 : 28;
  }

  #draw() {
    const height = this.#height;
    this.canvas.style.height = `${this.#rows.length * height}px`;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / height) - SPARE);
    const last = Math.min(
      this.#rows.length,
      Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / height) + SPARE,
    );
    const known = new Map([...this.canvas.children].map((row) => [row.dataset.path, row]));
    const now = [];
    for (let index = first; index < last; index += 1)
      now.push(this.#rowElement(this.#rows[index], index, height, known));
    for (const row of known.values()) row.remove();
    now.forEach((row, index) => {
      if (this.canvas.children[index] !== row)
        this.canvas.insertBefore(row, this.canvas.children[index] ?? null);
    });
    if (!this.#rows.some((row) => row.path === this.#current)) this.#current = this.#rows[0]?.path ?? "";
    attribute(this.scroller, "aria-activedescendant", this.#rowId(this.#current));
  }

  #rowId(path) {
    const index = this.#rows.findIndex((row) => row.path === path);
    return index < 0 ? null : `row-${index}`;
  }

  #rowElement(row, index, height, known) {
    const stamp = JSON.stringify([
      row.entry,
      row.isOpen,
      row.isLoading,
      row.depth,
      row.place,
      row.siblings,
      row.path === this.#current,
      row.path === this.#shown,
      this.#glow.has(row.path),
    ]);
    let element = known.get(row.path);
    known.delete(row.path);
    if (element?.dataset.stamp !== stamp) {
      const fresh = treeRow(row, this.#looks(row));
      fresh.dataset.stamp = stamp;
      element?.replaceWith(fresh);
      element = fresh;
    }
    element.id = `row-${index}`;
    element.style.transform = `translateY(${index * height}px)`;
    return element;
  }

  #looks(row) {
    return {
      isCurrent: row.path === this.#current,
      isShown: row.path === this.#shown,
      isGlowing: this.#glow.has(row.path),
    };
  }

  // --- acting --------------------------------------------------------------------------------------

  #clicked(event) {
    const path = event.target.closest?.(".node")?.dataset.path;
    if (path === undefined) return;
    this.#current = path;
    this.#activate(this.#row(path));
  }

  #row(path) {
    return this.#rows.find((row) => row.path === path);
  }

  #activate(row) {
    if (!row) return;
    if (row.entry.kind === "folder") this.#toggle(row);
    else this.app.tell("open", { path: row.path });
    this.#refresh();
  }

  async #toggle(row, open = !row.isOpen) {
    if (open) {
      this.#tree.open.add(row.path);
      if (!this.#tree.listed.has(row.path)) this.#list(row.path);
    } else this.#tree.open.delete(row.path);
    this.#refresh();
  }

  #pressed(event) {
    const index = this.#rows.findIndex((row) => row.path === this.#current);
    const row = this.#rows[index];
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.#height) - 1);
    const moves = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.#rows.length,
      End: this.#rows.length,
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) this.#moveTo(index + moves[event.key]);
    else if (event.key === "ArrowRight" && row?.entry.kind === "folder")
      row.isOpen ? this.#moveTo(index + 1) : this.#toggle(row, true);
    else if (event.key === "ArrowLeft" && row)
      row.isOpen
        ? this.#toggle(row, false)
        : this.#moveTo(
            this.#rows.findIndex((other) => other.path === folderOf(row.path)),
            index,
          );
    else if (event.key === "Enter" || event.key === " ") this.#activate(row);
    else if ((event.key === "F10" && event.shiftKey) || event.key === "ContextMenu")
      this.menu.open(row, this.#elementOf(row.path));
    else if (event.key === "F2" && row) this.menu.rename(row, this.#elementOf(row.path));
    else if (event.key.length === 1 && /\S/.test(event.key)) this.#typeAhead(event.key, index);
    else return;
    event.preventDefault();
  }

  #typeAhead(letter, index) {
    const order = [...this.#rows.slice(index + 1), ...this.#rows.slice(0, index + 1)];
    const found = order.find((row) => row.entry.name.toLowerCase().startsWith(letter.toLowerCase()));
    if (found) this.#moveTo(this.#rows.indexOf(found));
  }

  #moveTo(index, otherwise = 0) {
    const wanted = index < 0 && otherwise > 0 ? otherwise : index;
    const at = Math.max(0, Math.min(this.#rows.length - 1, wanted));
    if (!this.#rows[at]) return;
    this.#current = this.#rows[at].path;
    const height = this.#height;
    const { scrollTop, clientHeight } = this.scroller;
    if (at * height < scrollTop) this.scroller.scrollTop = at * height;
    else if ((at + 1) * height > scrollTop + clientHeight)
      this.scroller.scrollTop = (at + 1) * height - clientHeight;
    this.#draw();
  }

  #elementOf(path) {
    return [...this.canvas.children].find((row) => row.dataset.path === path) ?? this.scroller;
  }

  #menuAt(event) {
    const path = event.target.closest?.(".node")?.dataset.path;
    if (path === undefined) return;
    event.preventDefault();
    this.#current = path;
    this.#draw();
    this.menu.open(this.#row(path), this.#elementOf(path));
  }

  #folderOfCurrent() {
    const row = this.#row(this.#current);
    if (!row) return "";
    return row.entry.kind === "folder" && row.isOpen ? row.path : folderOf(row.path);
  }

  async #filter() {
    this.#wanted = this.filter.value.trim();
    if (this.#wanted && !this.#paths) {
      const answer = await this.app.attempt(() => api.files());
      this.#paths = answer?.files ?? [];
    }
    if (!this.#wanted) this.#tell("");
    this.scroller.scrollTop = 0;
    this.#refresh();
  }

  #toggleHidden() {
    this.#tree = { ...this.#tree, showsHidden: !this.#tree.showsHidden };
    remember("hidden", this.#tree.showsHidden ? "1" : null);
    this.#drawHiddenSwitch();
    this.#refresh();
  }

  #drawHiddenSwitch() {
    const words = t("Show hidden and ignored files");
    this.hiddenSwitch.title = words;
    this.hiddenSwitch.setAttribute("aria-label", words);
    this.hiddenSwitch.setAttribute("aria-pressed", String(this.#tree.showsHidden));
  }

  #mark(path) {
    this.#shown = path;
    this.#refresh();
  }

  /** Opens the folders above *path* and goes to it. @param {string} path */
  async reveal(path) {
    this.filter.value = "";
    this.#wanted = "";
    for (const folder of foldersAbove(path)) {
      this.#tree.open.add(folder);
      if (!this.#tree.listed.has(folder)) await this.#list(folder);
    }
    this.#rows = visibleRows(this.#tree);
    this.#moveTo(this.#rows.findIndex((row) => row.path === path));
    this.scroller.focus();
  }

  focus() {
    this.scroller.focus();
  }

  start() {
    this.#drawHiddenSwitch();
  }

  #listenForDrops() {
    this.scroller.addEventListener("dragover", (event) => {
      if (event.dataTransfer.types.includes("Files")) event.preventDefault();
    });
    this.scroller.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      event.stopPropagation();
      const row = this.#row(event.target.closest?.(".node")?.dataset.path);
      const folder = !row ? "" : row.entry.kind === "folder" ? row.path : folderOf(row.path);
      upload(this.app, folder, [...event.dataTransfer.files]);
    });
  }
}
