import type { AnyQuery } from "./any-query.ts";

const senders = new WeakMap<AnyQuery, AnyQuery>();

/**
 * Makes another query of the same executor send the statements that are built from a guarded one, and returns the guarded one.
 * Sending a statement would add the rules to the query once more, only to replace the result.
 */
export function sentBy(guarded: AnyQuery, sender: AnyQuery): AnyQuery {
  senders.set(guarded, sender);
  return guarded;
}

/** The query that sends the statements of a guarded one; `undefined` for any other query. */
export function senderOf(query: AnyQuery): AnyQuery | undefined {
  return senders.get(query);
}
