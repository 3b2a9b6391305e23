// Light, dark, or as the system says. Stands in the head of the page, before anything is drawn.

import { remember, remembered } from "../lib/storage.js";

const ORDER = ["auto", "light", "dark"];

/** @returns {"auto" | "light" | "dark"} */
export function currentScheme() {
  const kept = remembered("scheme");
  return kept === "light" || kept === "dark" ? kept : "auto";
}

/** Chooses the next one and returns it. */
export function nextScheme() {
  const next = ORDER[(ORDER.indexOf(currentScheme()) + 1) % ORDER.length];
  remember("scheme", next === "auto" ? null : next);
  applyScheme();
  return next;
}

export function applyScheme() {
  const scheme = currentScheme();
  if (scheme === "auto") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme;
}
