// The colours of the page: as the system says, light, dark or of high contrast. The server has set what
// the settings say, early.js what this browser has chosen.

import { remember } from "../lib/storage.js";

const ORDER = ["auto", "light", "dark", "contrast"];
const { dataset } = document.documentElement;

export const currentScheme = () => dataset.scheme ?? "auto";

/** Chooses the next one, for this browser. */
export function nextScheme() {
  dataset.scheme = ORDER[(ORDER.indexOf(currentScheme()) + 1) % ORDER.length];
  remember("scheme", dataset.scheme);
}
