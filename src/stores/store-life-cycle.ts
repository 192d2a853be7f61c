import type { Logger } from "../core/logger.ts";

/** Optional life cycle of a store with a server behind it. The application that received the store calls it. */
export interface StoreLifeCycle {
  /** Runs before the first request is served. If it rejects, the application does not start. */
  start?(log: Logger): Promise<void>;
  /** Resolves while the store works. The readiness route calls it. */
  check?(): Promise<void>;
  /** Runs when the application has shut down. Afterwards the store no longer keeps the process alive. */
  close?(): Promise<void>;
}
