// The pictures that go with the message being written: thumbnails that can be taken off again.

import { api } from "../net/api.js";
import { button, h, keyed } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { size } from "../lib/format.js";
import { remember, remembered } from "../lib/storage.js";
import { t } from "../i18n/translate.js";
import { pictureButton } from "../conversation/picture.js";

/** @typedef {{digest: string, name: string, format: string, width: number, height: number, size: number}} Picture */

export class Attachments {
  #session = "";
  /** @type {Picture[]} */
  #pictures = [];
  #underWay = 0;
  /** Resolves once what was given before is attached or refused. */
  #before = Promise.resolve();

  /** @param {import("../app.js").App} app @param {() => void} changed */
  constructor(app, changed) {
    this.app = app;
    this.changed = changed;
    this.element = h("ul", { class: "attached", "aria-label": t("Pictures"), hidden: true });
    this.show = keyed(
      this.element,
      ({ digest }) => digest,
      (picture) => ({ element: this.#thumbnail(picture) }),
    );
  }

  get count() {
    return this.#pictures.length;
  }

  /** Tells whether a picture is on its way to the server, and so the message has to wait. */
  get isBusy() {
    return this.#underWay > 0;
  }

  /** Shows what was attached in *session* and not sent. @param {string} session */
  enter(session) {
    this.#session = session;
    this.#pictures = session ? kept(session) : [];
    this.#draw();
  }

  /** Gives the session *files* and attaches them in their order, whatever session is shown by then. @param {File[]} files */
  async add(files) {
    this.#underWay += 1;
    this.changed();
    const session = this.app.sessionIsThere();
    const given = async () => {
      for (const file of files) await this.app.attempt(async () => this.#give(await session, file));
    };
    const all = this.#before.then(given);
    this.#before = all.catch(() => {}); // told below; the next are given all the same
    try {
      await all;
    } finally {
      this.#underWay -= 1;
      this.changed();
    }
  }

  /** Does the same with what was in the clipboard. @param {File[]} files */
  addPasted(files) {
    return this.add(files.map(named));
  }

  async #give(session, file) {
    const most = this.app.state.status?.limits.picture ?? Infinity;
    if (file.size > most) {
      const values = { name: file.name, size: size(file.size), most: size(most) };
      this.app.notice(t("{name} is too large ({size}; limit: {most}).", values), true);
      return;
    }
    this.put(session, [await api.givePicture(session, file)]);
  }

  /** @param {string} session @param {Picture[]} pictures */
  put(session, pictures) {
    const before = session === this.#session ? this.#pictures : kept(session);
    const known = new Set(before.map(({ digest }) => digest));
    const all = [...before, ...pictures.filter(({ digest }) => !known.has(digest))];
    keep(session, all);
    if (session !== this.#session) return;
    this.#pictures = all;
    this.#draw();
  }

  /** Returns what is attached, which is then no more. */
  take() {
    const pictures = this.#pictures;
    this.#set([]);
    return pictures;
  }

  #set(pictures) {
    this.#pictures = pictures;
    keep(this.#session, pictures);
    this.#draw();
  }

  #thumbnail(picture) {
    const words = t("Remove {name}", { name: picture.name });
    const drop = () => this.#set(this.#pictures.filter(({ digest }) => digest !== picture.digest));
    return h(
      "li",
      {},
      pictureButton(picture, api.pictureAddress(this.#session, picture.digest)),
      button({ class: "quiet tiny", title: words, "aria-label": words, on: { click: drop } }, icon("close")),
    );
  }

  #draw() {
    this.show(this.#pictures);
    this.element.hidden = !this.#pictures.length;
    this.changed();
  }
}

const place = (session) => `pictures.${session}`;

/** @returns {Picture[]} */
function kept(session) {
  try {
    return JSON.parse(remembered(place(session)) ?? "[]");
  } catch {
    return [];
  }
}

const keep = (session, pictures) =>
  session && remember(place(session), pictures.length ? JSON.stringify(pictures) : null);

/** Every picture in a clipboard is called "image.png": one must not replace the one before. */
function named(file) {
  if (file.name !== "image.png") return file;
  const now = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  return new File([file], `image-${now}.png`, { type: file.type });
}
