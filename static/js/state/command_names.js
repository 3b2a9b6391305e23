// The names of the commands that the page has buttons for, as the server declares them.

/** @type {Record<string, string>} */
const names = JSON.parse(globalThis.document?.getElementById("commands")?.textContent || "{}");

/**
 * The command behind a button, with what is said to it.
 * @param {string} button as in `@command(…, button="…")`
 * @param {string} [rest]
 */
export const lineOf = (button, rest = "") => `${names[button]} ${rest}`.trim();
