const FIRST_MS = 25;
const MAX_MS = 400;

/**
 * The pause before the next attempt to connect, in milliseconds. It grows with the number of failed attempts and is random, so
 * that not all processes connect at the same moment.
 */
export function reconnectDelay(attempt: number): number {
  return Math.min(MAX_MS, FIRST_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
}
