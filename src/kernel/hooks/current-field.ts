import { AsyncLocalStorage } from "node:async_hooks";

/** A field of a GraphQL schema that is being resolved. */
export interface CurrentField {
  /** Type and name: `Author.books`. */
  readonly coordinate: string;
  /** Whether it was declared with `connection`. */
  readonly isConnection: boolean;
}

const storage = new AsyncLocalStorage<CurrentField>();
let trackers = 0;
/** The field whose resolver is being called, up to its first `await`. */
let called: CurrentField | null = null;

/**
 * Tracks the fields that are being resolved, from now on until the returned function is called. Fields cost nothing
 * extra while they are not tracked, and they are never tracked in production.
 */
export function trackFields(): () => void {
  trackers++;
  let isTracking = true;
  return () => {
    if (isTracking) trackers--;
    isTracking = false;
  };
}

/** The field that this code runs for; `null` outside a field, or while fields are not tracked. */
export function currentField(): CurrentField | null {
  return storage.getStore() ?? null;
}

/** Runs `call` for a field, including everything that it starts. */
export function inField<R>(field: CurrentField, call: () => R): R {
  if (trackers > 0) return storage.run(field, call);
  const before = called;
  called = field;
  try {
    return call();
  } finally {
    called = before;
  }
}

/** The coordinate of the field that this code runs for, as far as it is known; `null` in production. */
export function resolvingField(): string | null {
  return (currentField() ?? called)?.coordinate ?? null;
}
