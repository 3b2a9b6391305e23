// What this browser remembers between visits; a browser that forbids it just forgets.

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
