import { createClient, ErrorReply } from "redis";

/** What Portico needs of node-redis: one connection, which is thrown away when it breaks. */
export interface RedisClient {
  connect(): Promise<unknown>;
  sendCommand(command: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (text: string) => void): Promise<void>;
  unsubscribe(channel: string, listener: (text: string) => void): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Waits for the answers that are due. */
  close(): Promise<void>;
  destroy(): void;
}

/** A client that is not connected yet and never connects again by itself. */
export function redisClient(url: string, connectTimeoutMs: number): RedisClient {
  return createClient({
    url,
    RESP: 3,
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
    // A command for a connection that is gone fails at once, instead of being held for the next one.
    disableOfflineQueue: true,
    maintNotifications: "disabled",
    // Its timeout ends when a command is written, not when it is answered: RedisConnection has one of its own.
    commandOptions: { timeout: 0 },
  });
}

/** Whether Redis itself said no: the connection is whole. */
export function isReply(error: unknown): error is Error {
  return error instanceof ErrorReply;
}
