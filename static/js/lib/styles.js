// Styles that come when they are first needed.

import { h } from "./dom.js";

/** Fetches a stylesheet. @param {string} href */
export function stylesReady(href) {
  return new Promise((resolve, reject) => {
    document.head.append(h("link", { rel: "stylesheet", href, on: { load: resolve, error: reject } }));
  });
}
