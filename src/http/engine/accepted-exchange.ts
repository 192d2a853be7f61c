import { Readable } from "node:stream";
import type { HttpExchange } from "../../kernel/exchange/exchange.ts";

/** The data of a request that has become a socket: ten thousand sockets must not keep everything that Node creates for each. */
export function acceptedExchange(exchange: HttpExchange): HttpExchange {
  const { method, target, headers, rawHeaders, params, query, ip, host, protocol, isUnpacked, isInjected } = exchange;
  const data = { method, target, headers, rawHeaders, params, query, ip, host, protocol, isUnpacked, isInjected };
  return { ...data, ...WITHOUT_BODY };
}

/** An upgrade has no body. The socket itself reports that the client has disconnected. */
const WITHOUT_BODY = {
  body: (): Readable => Readable.from([]),
  watchBody(): void {},
  arrivedBody: (): null => null,
  isGone: false,
  onAbort(): void {},
  send(): void {
    throw new Error("a response cannot be sent: the connection has become a WebSocket");
  },
  cut(): void {},
  breakOff: (): boolean => false,
};
