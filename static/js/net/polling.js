// A session that another Onefold runs: that one tells nothing here, so it is asked for now and then.

const PAUSE = 3000; // ms

/** @param {import("../app.js").App} app */
export function pollHeldSession(app) {
  let isReading = false;
  const read = async () => {
    isReading = true;
    while (app.state.sessionState?.held) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (app.state.sessionState?.held) app.connection.attach();
    }
    isReading = false;
  };
  app.subscribe(({ sessionState }) => {
    if (sessionState?.held && !isReading) read();
  });
}
