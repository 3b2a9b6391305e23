// The list of keys that "?" shows, and in which each can be changed.

import { button, h } from "../lib/dom.js";
import { remember } from "../lib/storage.js";
import { t } from "../i18n/translate.js";
import { openDialog } from "../dialogs/dialog.js";
import { KEYS, keyOf, keysNow } from "./shortcuts.js";

/** What the keys do that can be changed. @returns {Record<keyof typeof KEYS, string>} */
export const wordsOfKeys = () => ({
  palette: t("Find anything: actions, files, sessions, settings"),
  file: t("Open a file"),
  sessions: t("Sessions"),
  side: t("Sessions and files"),
  pane: t("Changes and files"),
  compose: t("Go to the message box"),
  save: t("Save the file"),
  settings: t("Settings"),
  before: t("Previous message"),
  after: t("Next message"),
  new: t("New session"),
  quote: t("Quote the selected text"),
  note: t("Add a note on the selected text"),
  rename: t("Rename the session"),
  part: t("Go to the next part of the page"),
  "part-back": t("Go to the previous part of the page"),
  ...("terminal" in KEYS ? { terminal: t("Terminal: open, enter or leave") } : {}),
});

/** Key, what it does: those that stay. */
const FIXED = [
  ["Enter", () => t("Send; while a turn runs: queue")],
  ["Shift+Enter", () => t("New line")],
  ["Ctrl+Enter", () => t("Stop and send now")],
  ["↑", () => t("In an empty message: take back the last queued message")],
  ["Esc", () => t("Stop; close what is open")],
  ["Y  A  N  E", () => t("Answer a question: yes, always, no, edit")],
  ["?", () => t("This list")],
];

export function openShortcuts() {
  const told = h("p", { class: "muted", role: "status", text: t("Choose a key to change it.") });
  const list = h("dl", { class: "keys" });
  openDialog(t("Keyboard shortcuts"), "sheet", [told, list]);
  draw("");

  /** @param {string} focused the name whose key has the focus then */
  function draw(focused) {
    const keys = keysNow();
    const changeable = Object.entries(wordsOfKeys()).flatMap(([name, words]) => {
      const change = button(
        { class: "quiet small", "aria-label": `${keys[name]}, ${words}`, on: { click: () => listen(name, change) } },
        h("kbd", { text: keys[name] }),
      );
      change.dataset.name = name;
      const reset = button({ class: "quiet tiny", hidden: keys[name] === KEYS[name], on: { click: () => keep(name, KEYS[name]) } }, t("Default"));
      reset.setAttribute("aria-label", t("Default of {name}", { name: words }));
      return [h("dt", {}, change), h("dd", {}, words, " ", reset)];
    });
    const fixed = FIXED.flatMap(([key, words]) => [
      h("dt", {}, ...key.split("  ").map((one) => h("kbd", { text: one }))),
      h("dd", { text: words() }),
    ]);
    list.replaceChildren(...changeable, ...fixed);
    list.querySelector(`[data-name="${focused}"]`)?.focus();
  }

  /** Takes the next key that is pressed; Escape leaves all as it is. */
  function listen(name, change) {
    told.textContent = t("Press the new key for “{name}”. Esc keeps the current one.", { name: wordsOfKeys()[name] });
    const take = (event) => {
      if (/^(Control|Meta|Alt|Shift)$/.test(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      change.removeEventListener("keydown", take);
      if (event.key === "Escape") told.textContent = t("Choose a key to change it.");
      else keep(name, keyOf(event));
    };
    change.addEventListener("keydown", take);
  }

  function keep(name, key) {
    const keys = keysNow();
    const taken = Object.keys(keys).find((each) => each !== name && keys[each] === key);
    if (taken) told.textContent = t("{key} is already used for “{name}”.", { key, name: wordsOfKeys()[taken] });
    else if (!/Ctrl|Alt|^F\d|\+F\d/.test(key)) told.textContent = t("{key} is needed for typing. Combine it with Ctrl or Alt.", { key });
    else {
      const changed = Object.entries({ ...keys, [name]: key }).filter(([each, now]) => now !== KEYS[each]);
      remember("keys", changed.length ? JSON.stringify(Object.fromEntries(changed)) : null);
      told.textContent = t("Saved: {key}.", { key });
    }
    draw(name);
  }
}
