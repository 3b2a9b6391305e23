// The days under which sessions are listed; pure.

/**
 * Sessions by the day they were last used.
 * @template {{updated: number}} Row
 * @param {Row[]} rows newest first
 * @param {(row: Row) => string} dayOf
 * @returns {{day: string, rows: Row[]}[]}
 */
export function byDay(rows, dayOf) {
  const days = [];
  for (const row of rows) {
    const day = dayOf(row);
    if (days.at(-1)?.day !== day) days.push({ day, rows: [] });
    days.at(-1).rows.push(row);
  }
  return days;
}
