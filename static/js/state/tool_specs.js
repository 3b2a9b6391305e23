// What the tools of the model declare of themselves (core/tool_spec.py): the page brought it along.

/**
 * @typedef {object} ToolSpec what a tool declares of itself: see core/tool_spec.py
 * @property {import("../lib/phrases.js").Text | null} verb
 * @property {string} icon
 * @property {string | null} subject a template of arguments; null: a guess from their names
 * @property {string} opens the argument with the path of a file that can be shown
 * @property {"" | "files" | "searches" | "folders"} explores
 * @property {{language: string, parameter: string} | null} program
 */

/** @type {Map<string, ToolSpec>} */
const specs = new Map();

/** Takes note of what the tools declare of themselves, by name. @param {Record<string, ToolSpec>} declared */
export function learnTools(declared) {
  for (const [name, spec] of Object.entries(declared)) specs.set(name, spec);
}

const brought = globalThis.document?.getElementById("tools")?.textContent;
if (brought) learnTools(JSON.parse(brought));

/** A tool that is not known declares nothing. @param {string} name */
export const specOf = (name) => specs.get(name);
