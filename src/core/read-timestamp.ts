// RFC 3339 section 5.6: the offset is required. Without one, a timestamp would be read in the server's time zone.
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Returns the point in time of RFC 3339 text such as `2026-11-14T09:30:00Z`, or `null` if the text is not valid. */
export function readTimestamp(value: unknown): Date | null {
  const day = typeof value === "string" ? TIMESTAMP.exec(value)?.[1] : undefined;
  if (day === undefined) return null;
  const date = new Date(value as string);
  // `Date` turns February 30 into March 2.
  return !Number.isNaN(date.getTime()) && new Date(day).toISOString().startsWith(day) ? date : null;
}
