import type { Logger } from "../core/logger.ts";
import type { RedisClient, RedisTLS } from "./redis-client.ts";

/** The way of one role to Redis, whether that is one server or several. The key decides which server gets a command. */
export interface RedisLink {
  /** Whether there is a connection to the server of the key; without a key, to all servers. */
  isReady(key?: string): boolean;
  /** Starts connecting without waiting for it. */
  open(log?: Logger): void;
  /** Connects. Rejects if Redis cannot be reached within a few seconds. */
  start(log: Logger): Promise<void>;
  /** Rejects while a server does not respond. */
  check(): Promise<void>;
  /** Sends one command. Rejects with code `STORE_UNAVAILABLE`, or `STORE_FULL` if Redis is out of memory. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /** Runs any client call, with the errors of `send`. */
  run<T>(key: string, work: (client: RedisClient) => Promise<T>): Promise<T>;
  /** Notes that data has arrived: in a busy process, a pending reply may be queued behind it. */
  noteLife(key: string): void;
  /** All servers that store keys. */
  servers(): Promise<readonly RedisLink[]>;
  /** Waits for pending replies and closes the connections permanently. */
  close(): Promise<void>;
}

export interface RedisLinkOptions {
  /** The role in messages, such as `durable`. */
  readonly role: string;
  readonly timeoutMs: number;
  readonly tls: RedisTLS | undefined;
  /** The effect of a lost connection, for the log. */
  readonly meanwhile: string;
  /** Called for every established connection, including the first. */
  readonly onReady?: () => void;
  /** Called for every established connection, and once a second while it is open. */
  readonly onBeat?: (client: RedisClient) => void;
  /** Called when an established connection is lost, with a test for the keys that were on it. */
  readonly onLost?: (isLost: (key: string) => boolean) => void;
}
