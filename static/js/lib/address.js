// The session that the address of the page names, and the snapshot that the page brought along.

/** @param {string} path of the address */
export function sessionOf(path) {
  return /^\/s\/([\w-]+)/.exec(path)?.[1] ?? "";
}

/** Returns the snapshot that came with the page, once: later it is an old one. */
export function snapshotOfPage() {
  const element = document.getElementById("picture");
  element?.remove();
  return element?.textContent ? JSON.parse(element.textContent) : null;
}
