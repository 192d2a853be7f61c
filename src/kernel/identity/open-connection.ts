import type { Identity } from "./identity.ts";

/** Why a connection is ended: its credential is no longer valid, or the process shuts down. */
export type EndReason = "expired" | "revoked" | "leaving";

/** A connection that outlives a single response: a socket or a stream of events. */
export interface OpenConnection {
  /** The current identity of the client that opened it. */
  readonly identity: Identity;
  /** Called several times a second, with the time of the monotonic clock. */
  beat(now: number): void;
  /** Checks everything that runs on it, after its credential was found to be still valid. */
  recheck?(): Promise<void>;
  /** Ends it and sends the reason to the client. */
  end(reason: EndReason): void;
  /** Ends it without a reason, for a client that does not respond. */
  cut(): void;
  readonly ended: Promise<void>;
}
