import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { AcceptOptions, RawSocket } from "./exchange.ts";

/** The connection of an upgrade, before it is decided. */
export interface PendingUpgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** One server per socket route: it holds the limits and the subprotocols, and no connections. */
const servers = new WeakMap<AcceptOptions, WebSocketServer>();

/** Accepts an upgrade. Rejects when the client is gone or its handshake is none; it has then been answered. */
export function acceptUpgrade(
  request: IncomingMessage,
  { socket, head }: PendingUpgrade,
  options: AcceptOptions,
): Promise<RawSocket> {
  const server = servers.get(options) ?? createServer(options);
  servers.set(options, server);
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new Error("the client left before its socket was accepted"));
    if (socket.destroyed) return onClose();
    socket.once("close", onClose);
    server.handleUpgrade(request, socket, head, (ws) => {
      socket.off("close", onClose);
      resolve(rawSocket(ws));
    });
  });
}

function createServer({ protocols, maxMessageBytes }: AcceptOptions): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    handleProtocols: (offered) => protocols.find((protocol) => offered.has(protocol)) ?? false,
  });
}

function rawSocket(ws: WebSocket): RawSocket {
  // A frame that is too large or malformed: ws closes with 1009 or 1002 by itself.
  ws.on("error", () => {});
  return {
    get bufferedAmount() {
      return ws.bufferedAmount;
    },
    protocol: ws.protocol,
    send: (data) => ws.send(data),
    ping: () => ws.ping(),
    pause: () => ws.pause(),
    resume: () => ws.resume(),
    close: (code, reason) => ws.close(code, reason),
    terminate: () => ws.terminate(),
    onMessage: (receive) =>
      void ws.on("message", (data, isBinary) =>
        receive(isBinary ? (data as Buffer) : (data as Buffer).toString("utf8")),
      ),
    onPong: (receive) => void ws.on("pong", receive),
    onClose: (closed) => void ws.on("close", (code, reason) => closed(code, String(reason))),
  };
}
