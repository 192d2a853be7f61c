/** The only place that remembers answers per context, and ends them with the question. */
const HOME = "src/kernel/context/memo-of.ts";

/** The files that keep something else per context, and why it may last as long as the context. */
const handles: Readonly<Record<string, string>> = {
  "src/http/html/brand.ts": "the look of the pages of an application",
  "src/graphql/adopt/foreign-context.ts": "the operation of a context value",
  "src/graphql/execute/object-counter.ts": "the number of objects in one response",
  "src/kernel/hooks/request-hooks.ts": "the hooks that observe the request",
  "src/kernel/idempotency/may-be-stored.ts": "whether a secret was made for the response",
  "src/kernel/identity/session-manager.ts": "the sessions of the request",
  "src/kernel/leaks/end-left-open.ts": "what is open and must be ended",
  "src/kernel/limits/budget.ts": "the budgets of an application",
  "src/kernel/limits/charge.ts": "the charge to end",
  "src/kernel/load/in-flight.ts": "the place of the request in the load",
  "src/kernel/pages/route-list.ts": "the declaration of the list, and whether it was applied",
  "src/kernel/events/event-hold.ts": "the events of an open transaction",
  "src/kernel/events/listening.ts": "whether a test waits for the subscription",
  "src/sql/database/open/pooled-database.ts": "the open transactions",
  "src/sql/database/replicas/replica-reads.ts": "the server that is read from, chosen anew after a second",
  "src/sql/database/replicas/write-positions.ts": "whether the primary must be read from now on",
  "src/sql/database/warn-of-repetition.ts": "the number of statements, for a warning",
};

const COLLECTIONS: readonly string[] = ["Map", "Set", "WeakMap", "WeakSet"];
const METHODS: readonly string[] = ["add", "get", "getOrInsert", "getOrInsertComputed", "has", "set"];
/** How code refers to the context of a request or of an operation. */
const CONTEXTS = /^(?:.*\.)?(?:ctx|context|contextValue|graph)$|\.connection$/;

/** The reason why a file may not have a slot, or a collection with keys of this type, or undefined. */
export function keyTypeFault(file: string, collection: string, key: string): string | undefined {
  const isPerContext = collection === "FeatureSlot" || (COLLECTIONS.includes(collection) && key.endsWith("Context"));
  return isPerContext ? fault(file) : undefined;
}

/** The reason why a file may not call this method of a collection with a key such as `ctx` or `.connection`, or undefined. */
export function keyFault(file: string, method: string, key: string): string | undefined {
  return METHODS.includes(method) && CONTEXTS.test(key) ? fault(file) : undefined;
}

function fault(file: string): string | undefined {
  if (!file.startsWith("src/") || file === HOME || file in handles) return undefined;
  return `an answer that is kept per context outlives its question, because a context may last as long as a connection: use memoOf (${HOME})`;
}
