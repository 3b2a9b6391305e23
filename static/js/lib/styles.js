// Stylesheets that are loaded at their first use.

import { h } from "./dom.js";

/** @type {Map<string, Promise<any>>} */
const loading = new Map();

/** Resolves once the sheet *href* holds; after a failure the next one asks again. */
export function stylesReady(href) {
  if (!loading.has(href))
    loading.set(
      href,
      new Promise((resolve, reject) => {
        const failed = (problem) => {
          loading.delete(href);
          reject(problem);
        };
        document.head.append(h("link", { rel: "stylesheet", href, on: { load: resolve, error: failed } }));
      }),
    );
  return loading.get(href);
}
