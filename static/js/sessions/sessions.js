// Where the list of sessions stands: on the left of the page, and over it where there is no left.

import { openDialog } from "../dialogs/dialog.js";
import { t } from "../i18n/translate.js";
import { SessionList } from "./session_list.js";

/** @type {HTMLInputElement | null} */
let sideField = null;

/** @param {import("../app.js").App} app @param {HTMLElement} element to be filled */
export function sideSessions(app, element) {
  const open = (id) => {
    app.openSession(id);
    app.emit("compose");
  };
  const list = new SessionList(app, { open });
  sideField = list.field;
  element.append(list.element);
}

/** @param {import("../app.js").App} app @returns {HTMLInputElement} the field for a search */
export function openSessions(app) {
  app.refreshSessions();
  if (sideField && matchMedia("(min-width: 721px)").matches) {
    app.emit("side", true);
    app.emit("unfold");
    sideField.focus();
    return sideField;
  }
  const closing = (work) => (id) => {
    dialog.close();
    work(id);
  };
  const open = closing((id) => app.openSession(id));
  const list = new SessionList(app, { open, start: closing(() => app.startSession()) });
  const dialog = openDialog(t("Sessions"), "drawer", [list.element]);
  dialog.addEventListener("close", () => list.leave());
  list.field.focus();
  return list.field;
}
