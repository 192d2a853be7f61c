import type { Logger } from "../core/logger.ts";

/** The connection of a bus to its server. A channel carries the events of one topic. */
export interface BusLink {
  /** The name of the server in messages. */
  readonly server: string;
  /** Whether the channel can be used now; without a channel, whether all can. */
  isReady(channel?: string): boolean;
  /** Connects. Rejects if the server cannot be reached within a few seconds. */
  start(log: Logger): Promise<void>;
  /** Rejects while the server does not respond. */
  check(): Promise<void>;
  /** Resolves when the server has the message. Rejects without a connection. */
  publish(channel: string, text: string): Promise<unknown>;
  subscribe(channel: string, listener: (text: string) => void): Promise<unknown>;
  unsubscribe(channel: string, listener: (text: string) => void): Promise<unknown>;
  /** Called for every message, because a pending reply may be queued behind it. */
  noteLife?(channel: string): void;
  close(): Promise<void>;
}

export interface BusLinkEvents {
  /** Called for every established connection, including the first. */
  readonly onReady: () => void;
  /** Called when an established connection is lost, with a test for the channels that were on it. */
  readonly onLost: (isLost: (channel: string) => boolean) => void;
}
