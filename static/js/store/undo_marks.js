// Marks of the calls of the shown session that changed files, undone or not: asked for whenever
// the server says that this is another now.

import { api } from "../net/api.js";

/** @typedef {{call_id: string, number: number, turn: number, files: number, undone: boolean}} Mark */

/** @param {import("../app.js").App} app */
export function followMarks(app) {
  let known = "";
  let isAsking = false;
  const look = async () => {
    const { session, sessionState, isReady, transcript, marksOf } = app.state;
    if (!isReady || sessionState?.session !== session) return;
    if (!sessionState.changes) {
      if (!marksOf) app.marked(session, []);
      return;
    }
    const wanted = [session, sessionState.boot, sessionState.changes, transcript.firstTurn].join(" ");
    if (wanted === known || isAsking) return;
    isAsking = true;
    try {
      const { calls } = await api.changedCalls(session, transcript.firstTurn);
      known = wanted;
      app.marked(session, calls);
    } catch (refusal) {
      if (refusal.status) {
        known = wanted; // nothing to be had until this is another one
        app.marked(session, app.state.marks);
      } else setTimeout(look, 2000); // the server is away: until it is back the old marks stay
    } finally {
      isAsking = false;
    }
    if (known === wanted) look(); // it may be another one by now
  };
  app.on("session", () => (known = "")); // whose marks are forgotten
  app.subscribe(look);
}
