import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { addressBucket } from "../../kernel/exchange/address-bucket.ts";
import type { BodyWatcher, HttpExchange, Payload, RawPath, RawQuery } from "../../kernel/exchange/exchange.ts";
import { dropUnreadBody } from "./drop-unread-body.ts";
import { closeWithConnection } from "./pending-response.ts";
import type { SenderFacts, SenderOf } from "./sender-of.ts";
import { watchUnread } from "./watch-unread.ts";
import { type HeaderList, setHeader, writeResponse, writeStream } from "./write-response.ts";

/** The parts that the exchanges of one engine share. */
export interface ExchangeHost {
  /** Whether every response closes its connection. */
  readonly isClosing: boolean;
  readonly senderOf: SenderOf;
}

/** The match of the router. */
export interface Match {
  readonly params: RawPath;
  readonly query: RawQuery;
  /** Responds instead of a stream that failed before its first byte. */
  readonly refuse: (exchange: HttpExchange, error: Error) => void;
}

export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Requests whose client waits for `100 Continue`, with their responses. */
export const waitingForContinue: WeakMap<IncomingMessage, ServerResponse> = new WeakMap();

/** A request and its response, as Node's server passes them. */
export class NodeExchange implements HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #host: ExchangeHost;
  readonly #match: Match;
  #watcher: BodyWatcher | null = null;
  /** Whether all of the body was read at once, maybe before Node has noticed its end. */
  #isBodyRead = false;
  #sender: SenderFacts | null = null;

  constructor(host: ExchangeHost, request: IncomingMessage, response: ServerResponse, match: Match) {
    this.#host = host;
    this.request = request;
    this.response = response;
    this.#match = match;
  }

  get method(): string {
    return this.request.method as string;
  }
  get target(): string {
    // Express removes the path of a mounted application from `url`.
    const { originalUrl, url = "" } = this.request as IncomingMessage & { readonly originalUrl?: string };
    const target = originalUrl ?? url;
    // RFC 9112 section 3.2.2: a client may send the absolute URL.
    return target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, "/");
  }
  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }
  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders;
  }
  get params(): RawPath {
    return this.#match.params;
  }
  get query(): RawQuery {
    return this.#match.query;
  }
  get ip(): string {
    return this.#from().ip;
  }
  get host(): string {
    return this.#from().host;
  }
  get protocol(): string {
    return this.#from().protocol;
  }

  #from(): SenderFacts {
    this.#sender ??= this.readSender();
    return this.#sender;
  }
  protected readSender(): SenderFacts {
    return this.#host.senderOf(this.request);
  }

  get isInjected(): boolean {
    return !(this.request.socket instanceof Socket);
  }

  body(): Readable {
    const { request } = this;
    // A loop over the body that ends early detaches the connection from the request, so its data is read now.
    this.#from();
    this.#followBody();
    const response = waitingForContinue.get(request);
    // Node throws if the final response has already begun.
    if (response?.headersSent === false) response.writeContinue();
    waitingForContinue.delete(request);
    return this.bodyStream;
  }
  /** The body as plugins pass it on. */
  protected get bodyStream(): Readable {
    return this.request;
  }

  watchBody(watcher: BodyWatcher): void {
    this.#watcher = watcher;
  }

  #followBody(): void {
    const { request } = this;
    const watcher = this.#watcher;
    if (watcher === null || request.complete || request.destroyed) return;
    this.#watcher = null;
    watcher.bodyBegins(this.ip);
    const end = (): void => watcher.bodyEnds();
    request.once("end", end).once("close", end);
    // A request whose body is not read to its end emits neither event, even when its connection closes.
    this.response.once("close", end);
  }

  /**
   * Node parses the body right after it has announced the request, so a body in the same packet is there one microtask
   * later. Reading it in one piece needs none of the events of a stream.
   */
  arrivedBody(): Buffer | null {
    const { request } = this;
    const { readableLength } = request;
    if (readableLength === 0 || this.isUnpacked || request.readableFlowing !== null || request.destroyed) return null;
    // Without the interim response, Node closes the connection of a client that waits for it.
    if (Number(request.headers["content-length"]) !== readableLength || waitingForContinue.has(request)) return null;
    // By its length: without one, Node 26 returns only the first of several packets.
    const whole = request.read(readableLength) as Buffer | null;
    this.#isBodyRead = whole !== null;
    // Node notices the end of the body later. Until it is read too, Node keeps the request as long as its connection is open.
    request.resume();
    return whole;
  }

  get isGone(): boolean {
    const { response } = this;
    return response.destroyed && !response.writableFinished;
  }

  get isUnpacked(): boolean {
    return this.bodyStream !== this.request;
  }

  onAbort(abort: () => void): void {
    const { response, request } = this;
    if (response.writableFinished) return;
    if (response.destroyed) return abort();
    if (response.socket === null) closeWithConnection(response, request.socket);
    // By the event, not by `writableFinished`, which an injected response never sets.
    response.once("close", abort).once("finish", () => {
      response.off("close", abort);
    });
  }

  send(status: number, headers: ResponseHeaders, payload: Payload): void {
    const { response } = this;
    const isDropped = !this.#isBodyRead && dropUnreadBody(this.request, response);
    this.write(status, headers, payload, this.#host.isClosing || isDropped);
    if (response.socket === null) closeWithConnection(response, this.request.socket);
    if (response.socket instanceof Socket && (!response.writableEnded || response.socket.writableLength > 0))
      watchUnread(
        response,
        payload === null || payload instanceof Readable ? 0 : payload.length,
        addressBucket(this.ip),
      );
  }

  /** Writes the response; `isLast` if the connection is closed after it. */
  protected write(status: number, headers: ResponseHeaders, payload: Payload, isLast: boolean): void {
    const list: HeaderList = [];
    for (const name in headers) list.push(name, headers[name] as string | readonly string[]);
    // The browser must use the content type, not guess it from the bytes.
    if (headers["x-content-type-options"] === undefined) list.push("x-content-type-options", "nosniff");
    if (isLast) setHeader(list, "connection", "close");
    if (payload instanceof Readable)
      writeStream(this.response, status, list, payload, (error) => this.#match.refuse(this, error));
    else writeResponse(this.response, status, list, payload);
  }

  breakOff(cause: unknown): boolean {
    if (!this.response.headersSent) return false;
    this.cut(new Error("the response was cut off because its stream failed", { cause }));
    return true;
  }

  cut(error: unknown): void {
    const { response } = this;
    // Only the caller of `inject` can receive the reason. On a connection Node would treat an error as a client error.
    response.destroy(response.socket instanceof Socket ? undefined : (error as Error));
  }
}
