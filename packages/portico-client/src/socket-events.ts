import type { GraphQLParams } from "./graphql-body.ts";
import { PorticoClientError } from "./portico-client-error.ts";
import { connectionLost, type Headers, headersOf } from "./request.ts";
import { CONNECTED, type Connect } from "./subscription-event.ts";
import { watchdog } from "./watchdog.ts";

interface Message {
  readonly type: string;
  readonly payload?: unknown;
}

/** Subscribes over a WebSocket, with the protocol graphql-transport-ws. Each subscription has its own socket. */
export function socketEvents(
  url: string,
  body: GraphQLParams,
  headers: Headers | undefined,
  idleSeconds: number,
): Connect {
  return async function* (token, signal) {
    const watch = watchdog(idleSeconds, signal);
    // A browser cannot send headers with the upgrade, so the server reads them from the first message.
    const payload = { ...(await headersOf(headers)), ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
    const socket = new WebSocket(url.replace(/^http/, "ws"), "graphql-transport-ws");
    const send = (message: object): void => socket.send(JSON.stringify(message));
    const ping = setInterval(() => socket.readyState === 1 && send({ type: "ping" }), (idleSeconds * 1000) / 2 || 1e9);
    const events: unknown[] = [];
    let ending: { readonly error?: Error } | undefined;
    let wake: (() => void) | undefined;
    const end = (how: { readonly error?: Error }): void => {
      ending ??= how;
      wake?.();
    };
    watch.signal.addEventListener("abort", () => end({ error: watch.signal.reason as Error }));
    if (watch.signal.aborted) end({ error: watch.signal.reason as Error });
    socket.addEventListener("open", () => send({ type: "connection_init", payload }));
    socket.addEventListener("close", ({ code, reason }) => end({ error: closeError(code, reason) }));
    // On Node 22, a socket that could not be opened is not closed.
    socket.addEventListener("error", () => end({ error: connectionLost("the socket failed") }));
    socket.addEventListener("message", ({ data }) => {
      watch.alive();
      const { type, payload } = JSON.parse(String(data)) as Message;
      if (type === "ping") send({ type: "pong" });
      if (type === "connection_ack") {
        send({ id: "1", type: "subscribe", payload: body });
        events.push(CONNECTED);
      }
      // A ping has the position of a quiet subscription.
      if (type === "next" || type === "ping") events.push(payload ?? {});
      if (type === "error") events.push({ errors: payload });
      if (type === "complete") end({});
      wake?.();
    });
    try {
      for (;;) {
        while (events.length > 0) yield events.shift();
        if (ending !== undefined) {
          if (ending.error === undefined) return;
          throw ending.error;
        }
        await new Promise<void>((done) => {
          wake = done;
        });
      }
    } finally {
      clearInterval(ping);
      socket.close();
      watch.end();
    }
  };
}

/** 4403 also ends a connection whose credential has expired. The other codes from 4400 are mistakes of the client. */
function closeError(code: number, reason: string): PorticoClientError {
  if (code === 4401) return new PorticoClientError(reason, { code: "UNAUTHENTICATED", status: 401 });
  if (code === 4403) return new PorticoClientError(reason, { code: "FORBIDDEN", status: 403 });
  if (code >= 4400 && code < 4500 && code !== 4408)
    return new PorticoClientError(`The socket was closed with ${code}: ${reason}`, {
      code: "BAD_REQUEST",
      status: 400,
    });
  return connectionLost(`the socket was closed with ${code}`);
}
