import type { Logger } from "../core/logger.ts";

/** What any store may have beside its role, for a server behind it. The application that was given the store calls it. */
export interface StoreLifeCycle {
  /** Runs before the first request is answered; when it rejects, the application does not start. */
  start?(log: Logger): Promise<void>;
  /** Resolves while the store works; readiness asks it. */
  check?(): Promise<void>;
  /** Runs when the application has ended: nothing of the store keeps the process alive after it. */
  close?(): Promise<void>;
}
