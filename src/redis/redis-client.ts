import type { ConnectionOptions } from "node:tls";
import { ErrorReply, RedisClient as NodeRedisClient } from "redis";
import { isInstance } from "../core/describe-error.ts";

/** The part of node-redis that Portico uses: one connection, which is discarded when it breaks. */
export interface RedisClient {
  connect(): Promise<unknown>;
  sendCommand(command: readonly string[]): Promise<unknown>;
  publish(channel: string, text: string): Promise<unknown>;
  subscribe(channel: string, listener: (text: string) => void): Promise<void>;
  unsubscribe(channel: string, listener: (text: string) => void): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Waits for pending replies. */
  close(): Promise<void>;
  destroy(): void;
}

/** How connections with TLS (`rediss://`) check the server, and who they are. */
export type RedisTLS = Pick<ConnectionOptions, "ca" | "cert" | "key" | "servername">;

export interface RedisClientOptions {
  readonly timeoutMs: number;
  readonly tls: RedisTLS | undefined;
  /** Whether the server is a node of a cluster, in which a channel belongs to one shard. */
  readonly isSharded?: boolean;
}

/** Returns a client that is not connected yet and never reconnects by itself. */
export function redisClient(url: string, { timeoutMs, tls, isSharded = false }: RedisClientOptions): RedisClient {
  const isEncrypted = url.startsWith("rediss:");
  // A constant, because the type of the options leaves `RESP` to the class, which reads it from here as well.
  const options = {
    url,
    RESP: 3 as const,
    socket: {
      connectTimeout: timeoutMs,
      reconnectStrategy: false as const,
      ...(isEncrypted && tls !== undefined ? { ...tls, tls: true as const } : {}),
    },
    // A command on a lost connection fails immediately instead of being queued for the next one.
    disableOfflineQueue: true,
    maintNotifications: "disabled" as const,
    // The client's own timeout covers only the write, not the reply, so RedisConnection has another one.
    commandOptions: { timeout: 0 },
  };
  const client = newClient()(options);
  return {
    connect: () => client.connect(),
    sendCommand: (command) => client.sendCommand(command),
    publish: (channel, text) => (isSharded ? client.sPublish(channel, text) : client.publish(channel, text)),
    subscribe: (channel, listener) =>
      isSharded ? client.sSubscribe(channel, listener) : client.subscribe(channel, listener),
    unsubscribe: (channel, listener) =>
      isSharded ? client.sUnsubscribe(channel, listener) : client.unsubscribe(channel, listener),
    on: (event, listener) => client.on(event, listener),
    close: () => client.close(),
    destroy: () => client.destroy(),
  };
}

/** `createClient` makes a class with all commands for every new URL, which stalls a process that tries several servers again and again. */
function newClient(): ReturnType<typeof makeClass> {
  made ??= makeClass();
  return made;
}

const makeClass = () => NodeRedisClient.factory({ RESP: 3 });
let made: ReturnType<typeof makeClass> | undefined;

/** Whether Redis itself returned the error, so that the connection is intact. */
export function isReply(error: unknown): error is Error {
  return isInstance(error, ErrorReply);
}
