// What the page does not need for its first paint, but soon after: fetched as one.

import { followJobs } from "../cards/job.js";
import { pollHeldSession } from "../net/polling.js";
import { registerWorker } from "../notices/system_notification.js";
import { followMarks } from "../store/undo_marks.js";
import { dragAndDrop } from "../tree/drag_and_drop.js";

/** @param {import("../app.js").App} app @param {any} tree */
export function afterPaint(app, tree) {
  followMarks(app);
  followJobs(app);
  pollHeldSession(app);
  dragAndDrop(app, (event) => tree.folderAt(event));
  app.on("agents", async () => (await import("../agents/agents_sheet.js")).openAgentsSheet(app));
  app.on("phone", async () => (await import("../phone/phone_sheet.js")).openPhoneSheet(app));
  void registerWorker();
}
