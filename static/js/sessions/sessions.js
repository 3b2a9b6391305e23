// Where the list of sessions stands: on the left of the page, and over it where there is no left.

import { openDialog } from "../dialogs/dialog.js";
import { t } from "../i18n/translate.js";
import { SessionList } from "./session_list.js";

/** @type {(field: HTMLInputElement) => void} */
let setSideField;
/** @type {Promise<HTMLInputElement>} */
const sideField = new Promise((resolve) => (setSideField = resolve));

/** @param {import("../app.js").App} app @param {HTMLElement} element to be filled */
export function sideSessions(app, element) {
  const open = (id) => {
    app.openSession(id);
    app.emit("compose");
  };
  const list = new SessionList(app, { open });
  element.append(list.element);
  setSideField(list.field);
}

/** Gives what opens the list, which returns the field for a search, once the side has its own list. */
export async function onceThere() {
  const field = await sideField; // a key of somebody quick comes before it
  return (app) => openSessions(app, field);
}

/** @param {import("../app.js").App} app @param {HTMLInputElement} field of the side */
function openSessions(app, field) {
  app.refreshSessions();
  if (matchMedia("(min-width: 721px)").matches) {
    app.emit("side", true);
    app.emit("unfold");
    return field;
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
