// The list of keys that "?" shows, and in which each can be changed.

import { button, h } from "../lib/dom.js";
import { remember } from "../lib/storage.js";
import { t } from "../i18n/translate.js";
import { openDialog } from "../dialogs/dialog.js";
import { KEYS, isOptionKey, keyOf, keysNow } from "./shortcuts.js";

/** What the keys do that can be changed, of those that this server offers. @returns {Record<string, string>} */
export const wordsOfKeys = (app) => ({
  palette: t("Find anything: actions, files, sessions, settings"),
  open_file: t("Open a file"),
  sessions: t("Sessions"),
  sidebar: t("Sessions and files"),
  pane: t("Changes and files"),
  compose: t("Go to the message box"),
  send: t("Send; while a turn runs: queue"),
  newline: t("New line"),
  send_now: t("Stop and send now"),
  save: t("Save the file"),
  settings: t("Settings"),
  previous_message: t("Previous message"),
  next_message: t("Next message"),
  new_session: t("New session"),
  plan: t("Plan mode: on or off"),
  quote: t("Quote the selected text"),
  add_note: t("Add a note on the selected text"),
  rename: t("Rename the session"),
  next_part: t("Go to the next part of the page"),
  previous_part: t("Go to the previous part of the page"),
  ...(app.actions.terminal ? { terminal: t("Terminal: open, enter or leave") } : {}),
});

/** What Enter does in the message box, alone or with other keys. */
const IN_MESSAGE = ["send", "newline", "send_now"];

/** What edits text, or what a browser does not let a page have; see `utils/shortcuts.py`. */
const OWN = /^Ctrl\+(?:[ACMVXZ]|(?:Shift\+)?[NTW])$/;

/** Key, what it does: those that stay. */
const FIXED = [
  ["↑", () => t("In an empty message: take back the last queued message")],
  ["Esc", () => t("Stop; close what is open")],
  ["Y  A  N  E", () => t("Answer a question: yes, always, no, edit")],
  ["Ctrl+M", () => t("In a file: Tab leaves it, or indents again")],
  ["?", () => t("This list")],
];

/** @param {import("../app.js").App} app */
export function openShortcuts(app) {
  const told = h("p", { class: "muted", role: "status", text: t("Choose a key to change it in this browser.") });
  const words = wordsOfKeys(app);
  const everywhere = h("p", { class: "muted", text: t("The setting shortcuts changes the keys of all browsers and of the terminal.") });
  const list = h("dl", { class: "keys" });
  const option = h("p", { class: "muted", text: t("Alt is the Option key. While you write, Option with a letter types a character.") });
  openDialog(t("Keyboard shortcuts"), "sheet", [told, list, everywhere, isOptionKey ? option : ""]);
  draw("");

  /** @param {string} focused the name whose key has the focus then */
  function draw(focused) {
    const keys = keysNow();
    const changeable = Object.entries(words).flatMap(([name, does]) => {
      const change = button(
        { class: "quiet small", "aria-label": `${keys[name]}, ${does}`, on: { click: () => listen(name, change) } },
        h("kbd", { text: keys[name] }),
      );
      change.dataset.name = name;
      const reset = button({ class: "quiet tiny", hidden: keys[name] === KEYS[name], on: { click: () => keep(name, KEYS[name]) } }, t("Default"));
      reset.setAttribute("aria-label", t("Default of {name}", { name: does }));
      return [h("dt", {}, change), h("dd", {}, does, " ", reset)];
    });
    const fixed = FIXED.flatMap(([key, does]) => [
      h("dt", {}, ...key.split("  ").map((one) => h("kbd", { text: one }))),
      h("dd", { text: does() }),
    ]);
    list.replaceChildren(...changeable, ...fixed);
    list.querySelector(`[data-name="${focused}"]`)?.focus();
  }

  /** Takes the next key that is pressed; Escape leaves all as it is. */
  function listen(name, change) {
    told.textContent = t("Press the new key for “{name}”. Esc keeps the current one.", { name: words[name] });
    const take = (event) => {
      if (/^(Control|Meta|Alt|Shift)$/.test(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      change.removeEventListener("keydown", take);
      if (event.key === "Escape") told.textContent = t("Choose a key to change it in this browser.");
      else keep(name, keyOf(event));
    };
    change.addEventListener("keydown", take);
  }

  function keep(name, key) {
    const keys = keysNow();
    const taken = Object.keys(words).find((each) => each !== name && keys[each] === key);
    if (taken) told.textContent = t("{key} is already used for “{name}”.", { key, name: words[taken] });
    else if (IN_MESSAGE.includes(name) !== /\bEnter$/.test(key))
      told.textContent = t("Send, New line and Stop and send now have Enter, alone or with Ctrl, Alt or Shift.");
    else if (!/Enter|Ctrl|Alt|^F\d|\+F\d/.test(key)) told.textContent = t("{key} is needed for typing. Combine it with Ctrl or Alt.", { key });
    else if (OWN.test(key)) told.textContent = t("{key} is needed for editing or by the browser. Choose another key.", { key });
    else {
      const changed = Object.entries({ ...keys, [name]: key }).filter(([each, now]) => now !== KEYS[each]);
      remember("keys", changed.length ? JSON.stringify(Object.fromEntries(changed)) : null);
      told.textContent = t("Saved: {key}.", { key });
    }
    draw(name);
  }
}
