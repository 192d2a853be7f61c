import type { Readable } from "node:stream";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { BaseContext } from "./http-context.ts";
import type { PorticoRequest } from "./portico-request.ts";
import type { PorticoResponse, TypedResponse } from "./portico-response.ts";

/** The part of an application that makes the request and the response of a context. */
export interface Messages {
  incoming(ctx: BaseContext, exchange: Exchange, maxBody: number, publicUrl: string | null): Incoming;
  outgoing(ctx: BaseContext): Outgoing;
  /** The default way to render an error. */
  readonly renderError: RenderError;
}

/** Writes the response for an error into the context. */
export interface RenderError {
  (ctx: BaseContext, error: unknown): void;
  /**
   * Names the response for an error that is meant for clients, among few that the request may get. Only if it exists, the
   * response depends on nothing else of the request, and may be rendered once for many.
   */
  readonly variantOf?: (exchange: Exchange) => string;
}

/** A request, as the framework itself uses it. */
export interface Incoming extends PorticoRequest {
  /** The names of the headers that the application has read. */
  readonly headersRead: Iterable<string>;
  /** All values of a header, in the order sent. For some headers, `headers` only has the first. */
  everyValue(name: string): readonly string[];
  /** Stores the output of a schema as a part of the request. */
  accept(part: "params" | "query" | "body", value: unknown): void;
  /** Names the parts that a schema is going to parse. */
  expect(parts: readonly ("params" | "query")[]): void;
  /** Whether `params` or `query` still have another form than the one that the handler receives. */
  readonly isUnread: boolean;
  /** Asks the gates that decide about the caller alone. They cannot read parts that are not parsed yet. */
  withheld<T>(ask: () => MaybePromise<T>): MaybePromise<T>;
  readonly isBodyMissing: boolean;
  /** Whether the body is a form without files, by its content type. */
  readonly isForm: boolean;
  bytes(): Promise<Buffer>;
}

/** All values of a header, in the order sent. A request that did not come from a connection has at most one. */
export function everyValueOf(request: PorticoRequest, name: string): readonly string[] {
  if ("everyValue" in request) return (request as Incoming).everyValue(name);
  return [request.headers[name]].filter((value) => value !== undefined);
}

/** The body to send. JSON stays a value until the end, because the `response` schema may change it. */
export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "plain"; readonly value: string | Uint8Array; readonly type: string }
  | { readonly kind: "stream"; readonly value: Readable; readonly type: string };

/** A response, as the framework itself uses it. */
export interface Outgoing extends PorticoResponse<number>, TypedResponse<unknown> {
  /** `null` until it is set; the default depends on the body. */
  code: number | null;
  headers: Record<string, string | string[]>;
  /** `null` until there is a response. */
  body: Body | null;
  /** Whether several authors write the response, as in GraphQL, so that none of them replaces the `Cache-Control` of another. */
  joinsCaching: boolean;
  /** Joins a value of `Cache-Control` to the one that is set, so that the strictest wins. */
  cache(value: string): void;
  /** Adds names to `Vary` and keeps the existing ones. */
  vary(...names: readonly string[]): void;
  /**
   * Keeps shared caches from storing a response that depends on the caller. Called once, before the headers are sent: until then
   * the identity may still be read.
   */
  restrictCaching(): void;
  /** Throws if a page is still pending when the handler has ended: it would come too late, or end up in another response. */
  checkPages(): void;
  /** Throws if the handler has sent another body than the page that it read, whose rule would then have no effect. */
  checkPageSent(): void;
  /** Marks the start of a handler, or of an exception handler. Everything set from now on is discarded if it fails. */
  mark(): void;
  /** A new response with everything that middleware had set. */
  successor(): Outgoing;
  /** Restores the state that middleware had set, for an error response. */
  reset(): void;
}
