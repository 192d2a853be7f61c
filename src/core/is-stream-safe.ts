// NFKC turns the last two, which are letters, into marks.
const TOO_MANY_MARKS = /[\p{M}\uFF9E\uFF9F]{31}/u;

/**
 * Whether a text has at most 30 combining marks in a row, as the Stream-Safe Text Format of UAX #15 requires. No language needs
 * more, and normalizing a longer run takes quadratic time, because the marks are sorted one by one.
 */
export function isStreamSafe(text: string): boolean {
  return !TOO_MANY_MARKS.test(text);
}
