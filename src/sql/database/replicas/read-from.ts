import { AsyncLocalStorage } from "node:async_hooks";

/** The server that reads come from, for every caller. */
type Source = "primary" | "replica";

const sources = new AsyncLocalStorage<Source>();

/** Runs `work`, whose reads through `replica()` come from the primary, or from a replica that may be behind any caller. */
export function readFrom<T>(source: Source, work: () => T): T {
  return sources.run(source, work);
}

/** The source that `readFrom` set around the caller. */
export function sourceHere(): Source | undefined {
  return sources.getStore();
}
