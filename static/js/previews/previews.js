// The previews that are open in the right pane, each in a tab of its own.

import { viewsOf } from "../layout/pane_views.js";
import { PreviewView } from "./preview_view.js";
import { t } from "../i18n/translate.js";

/**
 * Shows what a job serves in *pane*.
 * @param {any} pane @param {import("./preview_view.js").Served} served
 * @param {(key?: string) => void} choose shows a tab, without one the same as before
 */
export function open(pane, served, choose) {
  const views = viewsOf(pane, choose);
  const name = t("Port {port}", { port: served.port });
  const key = `/${served.job}/${name}`;
  pane.app.emit("pane", true);
  if (!views.has(key)) views.add(key, new PreviewView(pane.app, served, name));
  choose(key);
}
