// What the context of the model is made of, as the status line and its sheet name it.

import { t } from "../i18n/translate.js";

/** In the order of the bar. */
export const PARTS = {
  system: () => t("instructions"),
  tools: () => t("tools"),
  context: () => t("focus, notes, memory"),
  talk: () => t("conversation"),
  answers: () => t("tool answers"),
};
