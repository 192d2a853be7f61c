import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** Path parameters, decoded by the router. */
export type RawPath = Readonly<Record<string, string>>;
/** Query parameters as they were sent; a repeated one is a list. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A response body: nothing, text, bytes, or a stream of them. */
export type Payload = string | Uint8Array | Readable | null;

/** The port to the engine: one request. No code that uses it knows which engine is behind it. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. For a repeated header, `headers` may only have the first value. */
  readonly rawHeaders: readonly string[];
  readonly params: RawPath;
  readonly query: RawQuery;
  /** The address, host and protocol of the client, as trusted proxies forward them. */
  readonly ip: string;
  readonly host: string;
  readonly protocol: string;
  /** The unread body. Calling it makes a client that waits (`Expect: 100-continue`) continue. */
  body(): Readable;
  /** Whether a plugin between the client and `body()` decompresses the body according to `content-encoding`. */
  readonly isUnpacked: boolean;
  /** Notifies the watcher when the body is requested before it is complete, and when it is. */
  watchBody(watcher: BodyWatcher): void;
  /** Whether the client has disconnected before the response was complete. */
  readonly isGone: boolean;
  /** Calls back once, if the client disconnects before the response is complete. */
  onAbort(abort: () => void): void;
  /** The whole body, if all of its declared length has arrived and nothing has been read; otherwise `null`. */
  arrivedBody(): Buffer | null;
}

/** Follows a body that is still arriving. */
export interface BodyWatcher {
  /** An error thrown here rejects the body. */
  bodyBegins(ip: string): void;
  /** The body has arrived, or the client has disconnected. */
  bodyEnds(): void;
}

/** An exchange with one response. */
export interface HttpExchange extends Exchange {
  /** Whether the application sent the request to itself, without a connection. */
  readonly isInjected: boolean;
  send(status: number, headers: Readonly<Record<string, string | readonly string[]>>, payload: Payload): void;
  /** Closes the connection without a response. */
  cut(error: unknown): void;
  /**
   * Cuts off a response whose stream failed. Returns `false` if nothing was sent yet, so that another response is still
   * possible.
   */
  breakOff(error: unknown): boolean;
}

/** A socket that has been accepted. */
export interface RawSocket {
  readonly bufferedAmount: number;
  /** The memory that unread output occupies: its bytes, and a constant for each queued frame. */
  readonly heldBytes: number;
  /** Changes whenever a queued frame was sent. */
  readonly progress: number;
  readonly protocol: string;
  send(data: string | Uint8Array): void;
  ping(): void;
  pong(payload: Buffer): void;
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  onMessage(receive: (data: string | Buffer) => void): void;
  /** Nothing responds to a ping but the receiver. */
  onPing(receive: (payload: Buffer) => void): void;
  onPong(receive: () => void): void;
  /** Whether the connection's buffer is above its high-water mark. Below it, no drain event follows. */
  readonly isFull: boolean;
  /** Calls back once, when all buffered data was sent. Only a full connection ever calls it. */
  onceDrained(drained: () => void): void;
  onClose(closed: (code: number, reason: string) => void): void;
}

/** The options for accepting a socket. */
export interface AcceptOptions {
  /** Subprotocols in order of preference; the first one that the client offers is chosen. */
  readonly protocols: readonly string[];
  readonly maxMessageBytes: number;
}

/** The upgrade of a connection: accepted, or rejected with a response. */
export interface UpgradeExchange extends HttpExchange {
  /** Rejects with `ClientGone` if the client has disconnected; no response is needed then. */
  accept(options: AcceptOptions): Promise<RawSocket>;
}

/**
 * The client disconnected before its socket was open, or its invalid handshake was already rejected. Neither is an error of the
 * application.
 */
export class ClientGone extends Error {
  override readonly name: string = "ClientGone";
}
