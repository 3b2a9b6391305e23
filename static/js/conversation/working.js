// The words below the last item while a task runs.

import { verb } from "../cards/verbs.js";
import { t } from "../i18n/translate.js";
import { count } from "../lib/format.js";

/**
 * Words for what goes on right now and no item shows; empty for none.
 * @param {import("../app.js").State} state
 */
export function workingWords({ transcript, sessionState, outbox, link }) {
  if (outbox.length && link === "lost") return t("Will be sent when the connection is back.");
  if (sessionState?.stopping) return t("Stopping…");
  if (sessionState?.asked.length) return "";
  if (transcript.drafted)
    return t("Preparing {name}, {size:,} characters", {
      name: verb(transcript.drafted.name),
      size: count(transcript.drafted.characters),
    });
  const last = transcript.items.at(-1);
  const shows =
    last &&
    ((last.kind === "call" && last.state === "running") ||
      (last.kind === "text" && !last.done) ||
      (last.kind === "thinking" && last.seconds === null));
  if ((sessionState?.running && transcript.isRunning && !shows) || outbox.length) return t("Working…");
  return "";
}
