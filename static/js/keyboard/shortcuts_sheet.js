// The list of keys that "?" shows.

import { h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { openDialog } from "../dialogs/dialog.js";

/** Key, what it does. */
const KEYS = [
  ["Enter", () => t("Send; while a turn runs: queue")],
  ["Shift+Enter", () => t("New line")],
  ["Ctrl+Enter", () => t("Stop and send now")],
  ["↑", () => t("In an empty message: take back the last queued message")],
  ["Esc", () => t("Stop; close what is open")],
  ["Y  A  N  E", () => t("Answer a question: yes, always, no, edit")],
  ["Ctrl+K", () => t("Sessions")],
  ["Ctrl+P", () => t("Open a file")],
  ["Ctrl+B", () => t("File tree")],
  ["Ctrl+J", () => t("Changes and files")],
  ["Ctrl+S", () => t("Save the file")],
  ["Ctrl+,", () => t("Settings")],
  ["Ctrl+L", () => t("Go to the message box")],
  ["Alt+↑ / Alt+↓", () => t("Previous or next message")],
  ["Alt+N", () => t("New session")],
  ["Alt+Q  Alt+M", () => t("Selected text: quote it, or note something on it")],
  ["F2", () => t("Rename the session")],
  ["F6", () => t("Go to the next part of the page")],
  ["?", () => t("This list")],
];

export function openShortcuts() {
  openDialog(t("Keyboard shortcuts"), "sheet", [
    h(
      "dl",
      { class: "keys" },
      ...KEYS.flatMap(([key, words]) => [
        h("dt", {}, ...key.split("  ").map((one) => h("kbd", { text: one }))),
        h("dd", { text: words() }),
      ]),
    ),
  ]);
}
