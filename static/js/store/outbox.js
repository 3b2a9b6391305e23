// Messages for a session that the server may not have yet: kept by this tab over a reload.

import { keep, kept } from "../lib/storage.js";

/** @typedef {{cmd: string, text: string, now: boolean, pictures?: import("../composer/attachments.js").Picture[]}} Sent */

const place = (session) => `unsent.${session}`;

/** @param {string} session @returns {Sent[]} in the order they were written */
export const unsent = (session) => kept(place(session)) ?? [];

/** @param {string} session @param {Sent} sent */
export const noteUnsent = (session, sent) => keep(place(session), [...unsent(session), sent]);

/** @param {string} session @param {string} cmd of what the server has, or will not have */
export function noteSent(session, cmd) {
  const left = unsent(session).filter((sent) => sent.cmd !== cmd);
  keep(place(session), left.length ? left : null);
}
