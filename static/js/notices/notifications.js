// Notifications of the system, for a person who looks elsewhere: only after they were switched on.

import { remember, remembered } from "../lib/storage.js";

const SWITCH = "notify";

/** Tells whether this browser can show any at all. */
export const canNotify = () => "Notification" in window;

export const notifies = () =>
  canNotify() && Notification.permission === "granted" && remembered(SWITCH) === "1";

/**
 * Switches them on, asking the browser for leave, or off.
 * @returns {Promise<boolean>} whether they are on now
 */
export async function switchNotify() {
  if (notifies()) remember(SWITCH, null);
  else if ((await Notification.requestPermission()) === "granted") remember(SWITCH, "1");
  return notifies();
}

/**
 * Tells of something if nobody looks at the page.
 * @param {string} title
 * @param {string} body
 */
export function notify(title, body) {
  if (!notifies() || !document.hidden) return;
  void import("./system_notification.js").then(({ showNotification }) => showNotification(title, body));
}
