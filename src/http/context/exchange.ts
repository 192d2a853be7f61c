import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** Path parameters as the router found them, decoded. */
export type RawPath = Readonly<Record<string, string>>;
/** Query parameters as they were sent: a repeated one is a list. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A body ready to leave: nothing, text, bytes, or a stream of them. */
export type Payload = string | Uint8Array | Readable | null;

/** The port to the engine: what it gives for one request. Nothing above this line knows which engine it is. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent: of a repeated header, `headers` may have the first alone. */
  readonly rawHeaders: readonly string[];
  readonly params: RawPath;
  readonly query: RawQuery;
  /** Address, host and protocol of the client, seen through trusted proxies. */
  readonly ip: string;
  readonly host: string;
  readonly protocol: string;
  /** The unread body. Asking for it tells a client that waits (`Expect: 100-continue`) to go on. */
  body(): Readable;
  /** Whether a plugin stands between the client and `body()`, and unpacks what `content-encoding` says. */
  readonly isUnpacked: boolean;
  /** Tells the watcher when somebody asks for the body before all of it is there, and when it is. */
  watchBody(watcher: BodyWatcher): void;
  /** Calls back once, when the client is gone before the answer was complete. */
  onAbort(abort: () => void): void;
}

/** Follows a body that is still arriving. */
export interface BodyWatcher {
  /** What it throws refuses the body. */
  bodyBegins(ip: string): void;
  /** It is there, or the client is gone. */
  bodyEnds(): void;
}

/** The way out: one answer. */
export interface HttpExchange extends Exchange {
  /** Whether the application sent the request to itself, without a connection. */
  readonly isInjected: boolean;
  send(status: number, headers: Readonly<Record<string, string | readonly string[]>>, payload: Payload): void;
  /** Closes the connection without a response. */
  cut(error: unknown): void;
  /** Cuts an answer off whose stream failed. `false` when nothing of it has left: it can still become another one. */
  breakOff(error: unknown): boolean;
}

/** A socket that has been accepted. */
export interface RawSocket {
  readonly bufferedAmount: number;
  readonly protocol: string;
  send(data: string | Uint8Array): void;
  ping(): void;
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  onMessage(receive: (data: string | Buffer) => void): void;
  onPing(receive: () => void): void;
  onPong(receive: () => void): void;
  /** Whether the connection holds more than it likes to; what is below that it does not tell of. */
  readonly isFull: boolean;
  /** Calls back once, when everything that waited for the client has left. Only one that is full ever does. */
  onceDrained(drained: () => void): void;
  onClose(closed: (code: number, reason: string) => void): void;
}

/** How a socket is accepted. */
export interface AcceptOptions {
  /** Subprotocols in the order of preference; the first that the client offers is chosen. */
  readonly protocols: readonly string[];
  readonly maxMessageBytes: number;
}

/** The upgrade of a connection: refused with an answer, or accepted. */
export interface UpgradeExchange extends HttpExchange {
  /** Rejects with `ClientGone` when there is nobody to talk to; an answer is not wanted then. */
  accept(options: AcceptOptions): Promise<RawSocket>;
}

/** The client left before its socket was open, or its handshake was none and has been answered: nobody's fault here. */
export class ClientGone extends Error {
  override readonly name: string = "ClientGone";
}
