import { Readable } from "node:stream";
import type { HttpExchange, RawPath, RawQuery } from "../context/exchange.ts";

/** The data of a request that has become a socket: ten thousand sockets must not keep everything that Node creates for each. */
export class AcceptedExchange implements HttpExchange {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpExchange["headers"];
  readonly rawHeaders: readonly string[];
  readonly params: RawPath;
  readonly query: RawQuery;
  readonly ip: string;
  readonly host: string;
  readonly protocol: string;
  readonly isUnpacked: boolean;
  readonly isInjected: boolean;

  constructor(exchange: HttpExchange) {
    this.method = exchange.method;
    this.target = exchange.target;
    this.headers = exchange.headers;
    this.rawHeaders = exchange.rawHeaders;
    this.params = exchange.params;
    this.query = exchange.query;
    this.ip = exchange.ip;
    this.host = exchange.host;
    this.protocol = exchange.protocol;
    this.isUnpacked = exchange.isUnpacked;
    this.isInjected = exchange.isInjected;
  }

  /** An upgrade has no body. */
  body(): Readable {
    return Readable.from([]);
  }
  watchBody(): void {}
  arrivedBody(): null {
    return null;
  }
  /** The socket itself reports that the client has disconnected. */
  readonly isGone = false;
  onAbort(): void {}
  send(): void {
    throw new Error("a response cannot be sent: the connection has become a WebSocket");
  }
  cut(): void {}
  breakOff(): boolean {
    return false;
  }
}
