// The parts of the model's context, as the status bar and its sheet name them.

import { t } from "../i18n/translate.js";

/** In the order of the bar. */
export const PARTS = {
  system: () => t("instructions"),
  tools: () => t("tools"),
  context: () => t("focus, notes, memory"),
  talk: () => t("conversation"),
  answers: () => t("tool answers"),
};
