// The kept events of a session cut small again, so that a replay writes as it was written; pure.

const SLICE = 24; // characters

/**
 * @param {any[]} events
 * @returns {Generator<any>}
 */
export function* slices(events) {
  for (const event of events) {
    if (event.type !== "TextDelta" && event.type !== "ThinkingDelta") yield event;
    else
      for (let at = 0; at < event.text.length; at += SLICE)
        yield { ...event, text: event.text.slice(at, at + SLICE) };
  }
}
