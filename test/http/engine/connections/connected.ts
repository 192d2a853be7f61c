import { once } from "node:events";
import type { Socket } from "node:net";
import { PorticoApp, type PorticoAppOptions } from "portico";
import { liveClient } from "portico/testing";
import { onTestFinished } from "vitest";
import { type RawConnection, rawConnection } from "../../raw-connection.ts";

/** A client, and the other end of its connection. */
export interface Connected {
  readonly app: PorticoApp;
  readonly client: RawConnection;
  readonly server: Socket;
}

/** A shutdown that waits for pending responses only, and not for long. */
export const SHUTDOWN = { delaySeconds: 0, socketSeconds: 0, deadlineSeconds: 1, signals: [] } as const;

/** Connects a client to an application with the routes that `declare` adds, until the test ends. */
export async function connected(
  declare: (app: PorticoApp) => unknown,
  options: PorticoAppOptions = {},
): Promise<Connected> {
  const app = new PorticoApp({ logger: false, shutdown: SHUTDOWN, ...options });
  declare(app);
  const { port, close } = await liveClient(app);
  onTestFinished(close);
  const accepted = once(app.engine.server, "connection") as Promise<[Socket]>;
  const client = await rawConnection(port);
  onTestFinished(() => void client.socket.destroy());
  return { app, client, server: (await accepted)[0] };
}

const HANDSHAKE = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];

export const get = (path: string, ...headers: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, "Host: shop.example", ...headers, "", ""].join("\r\n");
export const upgrade = (path: string, ...headers: readonly string[]): string =>
  get(path, "Connection: Upgrade", "Upgrade: websocket", ...HANDSHAKE, ...headers);
