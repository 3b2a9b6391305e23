// The colours that the settings say, taken over at once: what this browser had chosen is forgotten.

import { remember } from "../lib/storage.js";
import { api } from "../net/api.js";

/** @param {import("../app.js").App} app */
export async function takeTheme(app) {
  const { settings } = await api.settings();
  remember("scheme", null);
  document.documentElement.dataset.scheme = settings.find(({ name }) => name === "theme").value;
  app.emit("scheme");
}
