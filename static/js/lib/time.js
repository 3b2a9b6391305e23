// Times as people read them; pure.

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 0.95) return `${Math.max(0.1, seconds).toFixed(1)} s`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = Math.floor(seconds % 60);
  return minutes < 60 ? `${minutes} min ${rest} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * Whole days between the day of *when* and today, by the local calendar.
 * @param {number} when seconds since the epoch
 * @param {Date} now
 */
export function daysAgo(when, now = new Date()) {
  const day = (date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000;
  return day(now) - day(new Date(when * 1000));
}

/** @param {number} when @param {string} language */
export function clock(when, language) {
  return new Date(when * 1000).toLocaleTimeString(language, { hour: "numeric", minute: "2-digit" });
}

/** @param {number} when @param {string} language */
export function day(when, language) {
  return new Date(when * 1000).toLocaleDateString(language, {
    year: "numeric",
    month: "short",
    day: "numeric",
  });
}
