// Storage of this browser, and of this tab; where it is forbidden, all is forgotten.

const PREFIX = "onefold.";

/**
 * @param {string} name
 * @returns {string | null}
 */
export function remembered(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string | null} value null forgets
 */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // Full, or forbidden: the page works without.
  }
}

/**
 * Returns what this tab alone keeps over a reload.
 * @param {string} name
 * @returns {any} null: nothing
 */
export function kept(name) {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "null");
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {any} value null forgets
 */
export function keep(name, value) {
  try {
    sessionStorage.removeItem(PREFIX + name); // what is older is of no use, even if there is no room
    if (value !== null) sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full, or forbidden: a reload asks before it loses anything.
  }
}
