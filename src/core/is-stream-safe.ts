// The last two are letters that NFKC turns into marks.
const TOO_MANY_MARKS = /[\p{M}\uFF9E\uFF9F]{31}/u;

/**
 * Whether a text has at most 30 combining marks in a row, as the Stream-Safe Text Format of UAX #15 demands: more than any
 * language needs. Normalising a longer run takes quadratic time, since the marks are sorted one by one.
 */
export function isStreamSafe(text: string): boolean {
  return !TOO_MANY_MARKS.test(text);
}
