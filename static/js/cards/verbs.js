// What a call is called on screen: a picture, a verb, and what it is done to.

import { t } from "../i18n/translate.js";

const TARGETS = ["path", "pattern", "query", "url", "command", "code", "text", "message"];

const LOOKS = {
  list_files: ["folder", () => t("List")],
  read_file: ["book", () => t("Read")],
  find_files: ["search", () => t("Find files")],
  search_text: ["search", () => t("Search")],
  create_file: ["file", () => t("Create")],
  modify_file: ["edit", () => t("Change")],
  rename_file: ["edit", () => t("Rename")],
  create_folder: ["folder", () => t("Make folder")],
  delete_file: ["delete", () => t("Delete")],
  delete_folder: ["delete", () => t("Delete folder")],
  annotate_file: ["note", () => t("Note")],
  focus_file: ["pin", () => t("Focus")],
  unfocus_file: ["pin", () => t("Unfocus")],
  run_python: ["play", () => t("Run Python")],
  run_command: ["terminal", () => t("Run")],
  web_search: ["globe", () => t("Search the web")],
  read_page: ["globe", () => t("Read page")],
  remember: ["brain", () => t("Remember")],
  update_todos: ["plan", () => t("Plan")],
  git_commit: ["check", () => t("Commit")],
};

/** A tool from elsewhere is called by its name. @param {string} name */
export const verb = (name) => LOOKS[name]?.[1]() ?? name;

/** Whether it is a tool of ours, whose verb says what was done. @param {string} name */
export const isKnown = (name) => name in LOOKS;

/** @param {string} name */
export const pictureOf = (name) => LOOKS[name]?.[0] ?? "tool";

/**
 * What a call is about: the first line of its telling argument.
 * @param {string} name
 * @param {Record<string, any>} given
 */
export function target(name, given) {
  if (name === "rename_file" && given.new_path) return `${given.path ?? ""} → ${given.new_path}`;
  if (name === "run_python") return "";
  if (name === "search_text")
    return [given.pattern, given.path && given.path !== "." ? given.path : ""].filter(Boolean).join("  ");
  const [first, ...more] = (TARGETS.map((key) => given[key]).find((value) => typeof value === "string") ?? "")
    .trim()
    .split("\n");
  return more.length ? `${first} …` : first;
}

/** The file a call is about, "" if it is about none. */
export const pathOf = (name, given) =>
  ["read_file", "create_file", "modify_file", "annotate_file", "focus_file"].includes(name)
    ? (given.path ?? "")
    : "";
