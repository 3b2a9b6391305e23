// What tools and commands declare of themselves on the server; the page brought it along.

/**
 * @typedef {object} ToolSpec see core/tool_spec.py
 * @property {import("../i18n/phrases.js").Text | null} verb
 * @property {string} icon
 * @property {string | null} subject
 * @property {string} opens
 * @property {boolean} asks_person
 * @property {"" | "files" | "searches" | "folders"} explores
 * @property {{language: string, parameter: string} | null} program
 */

const brought = (id) => JSON.parse(globalThis.document?.getElementById(id)?.textContent || "{}");

/** @type {Record<string, ToolSpec>} */
const tools = brought("tools");
const commands = brought("commands");

/** @param {Record<string, ToolSpec>} more */
export const learnTools = (more) => Object.assign(tools, more);

/** A tool that is not known declares nothing. @param {string} name @returns {ToolSpec | undefined} */
export const specOf = (name) => (Object.hasOwn(tools, name) ? tools[name] : undefined);

/** The command behind a button, with what is said to it. @param {string} button @param {string} [rest] */
export const lineOf = (button, rest = "") => `${commands[button]} ${rest}`.trim();
