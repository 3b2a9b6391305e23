// Files by their names, with the line behind it: `src/app.py:12`, or `app.py:12:5`.

const PLACE = /^(.*?[^\s:]):(\d{0,7})(?::\d{0,7})?\s*$/;

/**
 * Returns the files that *finder* has for *wanted*, and the line in them if that ends with one.
 * @param {import("./finder.js").Finder} finder
 * @param {string} wanted
 * @param {number} most
 * @returns {Promise<{path: string, line?: number}[]>}
 */
export async function findPlaces(finder, wanted, most) {
  const named = await finder.find(wanted, most);
  const [, words, line] = PLACE.exec(wanted) ?? [];
  if (named.length || !words) return named.map((path) => ({ path }));
  return (await finder.find(words, most)).map((path) => ({ path, line: Number(line) || undefined }));
}
