import { createClient, ErrorReply } from "redis";

/** The part of node-redis that Portico uses: one connection, which is discarded when it breaks. */
export interface RedisClient {
  connect(): Promise<unknown>;
  sendCommand(command: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (text: string) => void): Promise<void>;
  unsubscribe(channel: string, listener: (text: string) => void): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Waits for pending replies. */
  close(): Promise<void>;
  destroy(): void;
}

/** Returns a client that is not connected yet and never reconnects by itself. */
export function redisClient(url: string, connectTimeoutMs: number): RedisClient {
  return createClient({
    url,
    RESP: 3,
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
    // A command on a lost connection fails immediately instead of being queued for the next one.
    disableOfflineQueue: true,
    maintNotifications: "disabled",
    // The client's own timeout covers only the write, not the reply, so RedisConnection has another one.
    commandOptions: { timeout: 0 },
  });
}

/** Whether Redis itself returned the error, so that the connection is intact. */
export function isReply(error: unknown): error is Error {
  return error instanceof ErrorReply;
}
