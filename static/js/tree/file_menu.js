// The menu of a file of the tree, and small forms for names and notes.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folderOf, nameOf, visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";
import { goesRound } from "../dialogs/tab_round.js";
import { api } from "../net/api.js";

export class FileMenu {
  /** @param {import("../app.js").App} app @param {import("./tree_rows.js").TreeRows} view of the files */
  constructor(app, view) {
    this.app = app;
    this.view = view;
    this.element = h("div", { class: "menu", hidden: true });
    this.element.addEventListener("keydown", (event) => this.#pressed(event));
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.hidden && !this.element.contains(event.target)) this.close();
    });
  }

  /** @param {any} row */
  open(row) {
    if (!row) return;
    const { path, entry } = row;
    const isFile = entry.kind === "file";
    const item = (picture, words, work) =>
      button(
        {
          role: "menuitem",
          tabIndex: -1,
          on: {
            click: () => {
              this.close();
              work();
            },
          },
        },
        icon(picture),
        words,
      );
    this.#show(this.view.elementOf(path), "menu", t("File"), [
      isFile && item("eye", t("Open"), () => this.app.emit("open", { path })),
      isFile && item("chat", t("Mention in message"), () => this.app.emit("mention", path)),
      isFile &&
        item("pin", entry.focus ? t("Remove from focus") : t("Add to focus"), () =>
          this.focus(path, !entry.focus),
        ),
      item("note", entry.note ? t("Edit the note") : t("Add a note"), () => this.note(row)),
      item("edit", t("Rename"), () => this.rename(row)),
      entry.kind === "folder" && item("add", t("New file or folder"), () => this.create(this.view.elementOf(path), path)),
      isFile && item("download", t("Download"), () => location.assign(api.downloadAddress(path))),
      isFile && item("check", t("Add to results"), () => this.#addResult(path)),
      item("copy", t("Copy the path"), () => navigator.clipboard?.writeText(path)),
    ]);
    this.element.querySelector("button").focus();
  }

  async #addResult(path) {
    const { resultsApi } = await import("../results/results_api.js");
    const session = await this.app.sessionIsThere();
    if (await this.app.attempt(() => resultsApi.add(session, path))) this.app.emit("results");
  }

  async focus(path, on) {
    const answer = await this.app.attempt(() => api.focus(this.app.state.session, path, on));
    if (!answer) return;
    const tokens = answer.focus.find((each) => each.path === path)?.tokens ?? 0;
    this.app.notice(
      on
        ? t("{path} is in focus: {n:,} tokens with each change.", { path: visible(path), n: tokens })
        : t("{path} is no longer in focus.", { path: visible(path) }),
    );
  }

  note({ path, entry }) {
    this.#form(
      this.view.elementOf(path),
      t("Note on {path}", { path: visible(nameOf(path)) }),
      entry.note,
      async (note) => {
        await api.note(path, note.trim());
        this.app.emit("files", { by: "person", folders: [folderOf(path)], paths: [] });
      },
      true,
    );
  }

  rename({ path }) {
    this.#form(
      this.view.elementOf(path),
      t("New name"),
      path,
      (written) => {
        const name = path === path.trim() ? written.trim() : written; // blanks at its ends may be meant
        return name.trim() && name !== path && api.rename(path, name);
      },
    );
  }

  create(anchor, folder) {
    this.#form(anchor, t("New file; end with / for a folder"), folder ? `${folder}/` : "", (name) =>
      this.#make(name.trim()),
    );
  }

  async #make(name) {
    const path = name.replace(/^\/+/, "");
    if (!path) return;
    if (path.endsWith("/")) {
      await api.makeFolder(path.replace(/\/+$/, ""));
      return;
    }
    await api.save(path, "", null);
    this.app.emit("open", { path });
  }

  #form(anchor, label, value, done, isLong = false) {
    const field = h(isLong ? "textarea" : "input", {
      value: value ?? "",
      "aria-label": label,
      rows: 3,
      spellcheck: "false",
    });
    let isAsking = false;
    const finish = async () => {
      if (isAsking) return; // pressed twice
      isAsking = true;
      const isDone = await this.app.attempt(async () => {
        await done(field.value);
        return true;
      });
      isAsking = false;
      if (isDone && form.isConnected) this.close(); // else what was written stays, to be mended
    };
    const form = h(
      "form",
      {
        on: {
          submit: (event) => {
            event.preventDefault();
            finish();
          },
        },
      },
      h("label", {}, h("span", { text: label }), field),
      h(
        "div",
        { class: "buttons" },
        button({ class: "small", on: { click: () => this.close() } }, t("Cancel")),
        h("button", { type: "submit", class: "primary small" }, t("OK")),
      ),
    );
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
        event.preventDefault();
        finish();
      }
    });
    this.#show(anchor, "dialog", label, [form]);
    field.focus();
    const dot = isLong ? -1 : field.value.lastIndexOf(".");
    if (!isLong && dot > field.value.lastIndexOf("/") + 1)
      field.setSelectionRange(field.value.lastIndexOf("/") + 1, dot);
  }

  #show(anchor, role, label, children) {
    this.element.setAttribute("role", role);
    this.element.setAttribute("aria-label", label);
    this.element.replaceChildren(...children.filter(Boolean));
    this.element.hidden = false;
    this.back = anchor.closest(".tree") ?? anchor;
    const place = anchor.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    this.element.style.left = `${Math.max(8, Math.min(place.left + 24, innerWidth - width - 8))}px`;
    this.element.style.top = `${Math.max(8, Math.min(place.bottom, innerHeight - height - 8))}px`;
  }

  close() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.back?.focus();
  }

  #pressed(event) {
    const items = [...this.element.querySelectorAll("[role=menuitem]")];
    const at = items.indexOf(document.activeElement);
    if (event.key === "Escape" || (event.key === "Tab" && at >= 0)) this.close();
    else if (event.key === "ArrowDown" && at >= 0) items[(at + 1) % items.length].focus();
    else if (event.key === "ArrowUp" && at >= 0) items[(at - 1 + items.length) % items.length].focus();
    else if (!goesRound(this.element, event)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}
