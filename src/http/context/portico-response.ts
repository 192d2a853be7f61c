import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { serialize as serializeCookie } from "cookie-es";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import { nodeHttp } from "../../core/node-http.ts";
import type { DataHandler, PageSource, Sorting } from "../../pagination/data-handler.ts";
import { linkHeader } from "../../pagination/links.ts";
import type { Page } from "../../pagination/strategies/base-pagination-strategy.ts";
import type {
  AnyStrategy,
  PageOf,
  PaginateOptions,
  StrategyFor,
} from "../../pagination/strategies/strategy-by-name.ts";
import { BadRequest } from "../exceptions/http-exception.ts";
import { pageCall } from "../pages/page-call.ts";
import { PagePromise } from "../pages/page-promise.ts";
import type { BaseContext } from "./http-context.ts";
import { outlivesQuestions } from "./validity/memo-of.ts";
import { isStorable, privateCaching, strictestCaching } from "./validity/strictest-caching.ts";

/**
 * A response whose body and status types are known to TypeScript. The key is required because `{}` is assignable to any type
 * with only optional keys.
 */
export interface TypedResponse<out Body, out Status extends number = number> {
  readonly "~kind": "response";
  readonly "~body"?: Body;
  readonly "~status"?: Status;
}

/** The result of `paginate`: a promise if the handler's total is one. */
export type PageResponse<N, Body, Status extends number> =
  N extends Promise<unknown> ? Promise<TypedResponse<Body, Status>> : TypedResponse<Body, Status>;

/** The sources of a streamed response. */
export type StreamSource = Readable | ReadableStream | AsyncIterable<string | Uint8Array>;

/** Options of a cookie. By default it is `HttpOnly`, `Secure`, `SameSite=Lax` and valid for the whole site. */
export interface CookieOptions {
  /** @default true */
  readonly httpOnly?: boolean;
  /** Whether it is sent only over TLS (and to localhost). @default true */
  readonly secure?: boolean;
  /** @default "lax" */
  readonly sameSite?: "strict" | "lax" | "none";
  /** @default "/" */
  readonly path?: string;
  /** The domain whose hosts receive the cookie. @default the host of the request only */
  readonly domain?: string;
  /** Its lifetime. If left out, it lasts until the browser is closed. */
  readonly maxAgeSeconds?: number;
}

/**
 * The response being built. Set status and headers first, then end it with a body. The handler's return value is sent.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 *
 * new PorticoApp().post("/books", ({ response }) => response.status(201).header("location", "/books/1").json({ id: "1" }));
 * ```
 */
export interface PorticoResponse<Status extends number = 200> {
  status<const S extends number>(code: S): PorticoResponse<S>;
  /** Sets a header; the name is case-insensitive, and a second value replaces the first. */
  header(name: string, value: string): this;
  /** Adds a cookie. */
  cookie(name: string, value: string, options?: CookieOptions): this;
  /** Makes the browser delete a cookie. Path and domain must be those it was set with. */
  clearCookie(name: string, options?: Pick<CookieOptions, "path" | "domain">): this;
  json<T>(body: T): TypedResponse<T, Status>;
  text(body: string): TypedResponse<string, Status>;
  html(body: string): TypedResponse<string, Status>;
  /** Responds with bytes in memory, such as an image from a database. */
  bytes(body: Uint8Array, contentType?: string): TypedResponse<unknown, Status>;
  /** 204 unless a status was set. */
  empty(): TypedResponse<null, Status extends 200 ? 204 : Status>;
  /** 303 by default, so that the browser fetches the new location with GET. */
  redirect(location: string, status?: 301 | 302 | 303 | 307 | 308): TypedResponse<null>;
  /** Sends the stream at the client's pace. Dependencies stay open until its end. */
  stream(source: StreamSource, contentType?: string): TypedResponse<unknown, Status>;

  /**
   * Reads a page as `paginate` does, sets its links as a `Link` header, and returns it as a value: to map its items, or to
   * put it into a body with other members. Await it.
   *
   * @example
   * ```ts
   * import { PorticoApp } from "portico";
   *
   * const books = [{ id: 1, title: "Emma", shelf: "E 7" }];
   * new PorticoApp().get("/books", async ({ response }) => {
   *   const { items, pagination } = await response.page(books);
   *   return response.json({ genre: "novel", books: items.map(({ title }) => title), pagination });
   * });
   * ```
   */
  page<T, const S extends StrategyFor<NoInfer<T>, NoInfer<C>> = "page_number", C extends string = never>(
    data: readonly T[] | (DataHandler<T> & Sorting<C>),
    options?: PaginateOptions<S, NoInfer<T>, NoInfer<C>>,
  ): Promise<PageOf<T, NoInfer<S>>>;

  // The plain form is last: TypeScript reports the last overload. `NoInfer` in the results: without it, the return type
  // that `paginated` expects would choose `S`, and TypeScript would check another strategy than the one that runs.
  paginate<
    T,
    const S extends StrategyFor<NoInfer<T>, NoInfer<C>> = "page_number",
    C extends string = never,
    N extends MaybePromise<number> = number,
  >(
    data: readonly unknown[] | null,
    options: PaginateOptions<S, NoInfer<T>, NoInfer<C>> & { readonly dataHandler: PageSource<T, N> & Sorting<C> },
  ): PageResponse<N, PageOf<T, NoInfer<S>>, Status>;
  /**
   * Sends a page of a list or of a data handler: `{ items, pagination }`, and its links as a `Link` header. The result is a
   * promise if the handler is asynchronous: return it or await it.
   */
  paginate<
    T,
    const S extends StrategyFor<NoInfer<T>, NoInfer<C>> = "page_number",
    C extends string = never,
    N extends MaybePromise<number> = number,
  >(
    data: readonly T[] | (PageSource<T, N> & Sorting<C>),
    options?: PaginateOptions<S, NoInfer<T>, NoInfer<C>>,
  ): PageResponse<N, PageOf<T, NoInfer<S>>, Status>;
  apaginate<T, const S extends StrategyFor<NoInfer<T>, NoInfer<C>> = "page_number", C extends string = never>(
    data: readonly unknown[] | null,
    options: PaginateOptions<S, NoInfer<T>, NoInfer<C>> & { readonly dataHandler: DataHandler<T> & Sorting<C> },
  ): Promise<TypedResponse<PageOf<T, NoInfer<S>>, Status>>;
  /** Does what `paginate` does, and always returns a promise. */
  apaginate<T, const S extends StrategyFor<NoInfer<T>, NoInfer<C>> = "page_number", C extends string = never>(
    data: readonly T[] | (DataHandler<T> & Sorting<C>),
    options?: PaginateOptions<S, NoInfer<T>, NoInfer<C>>,
  ): Promise<TypedResponse<PageOf<T, NoInfer<S>>, Status>>;
}

/** The body to send. JSON stays a value until the end, because the `response` schema may change it. */
export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "plain"; readonly value: string | Uint8Array; readonly type: string }
  | { readonly kind: "stream"; readonly value: Readable; readonly type: string };

const NONE: Readonly<Record<string, never>> = Object.freeze({});

/** The only implementation of `PorticoResponse`. */
export class OutgoingResponse implements PorticoResponse<number>, TypedResponse<unknown> {
  readonly "~kind" = "response" as const;
  /** `null` until it is set; the default depends on the body. */
  code: number | null = null;
  headers: Record<string, string | string[]> = {};
  /** `null` until there is a response. */
  body: Body | null = null;
  #pages: PagePromise<unknown>[] | null = null;
  /** The body that `paginate` set. */
  #pageBody: Body | null = null;
  #mark: Readonly<Record<string, string | string[]>> | null = null;
  /** Whether several authors write the response, as in GraphQL, so that none of them replaces the `Cache-Control` of another. */
  joinsCaching = false;
  /** Whether `Cache-Control` comes from `cache`, and not from the author of the whole response. */
  #isCachingJoint = false;
  readonly #ctx: BaseContext;

  constructor(ctx: BaseContext) {
    this.#ctx = ctx;
  }

  status<const S extends number>(code: S): PorticoResponse<S> {
    if (!Number.isInteger(code) || code < 200 || code > 599)
      throw new RangeError(`the status must be a whole number from 200 to 599, received ${code}`);
    this.code = code;
    return this as PorticoResponse<number> as PorticoResponse<S>;
  }
  header(name: string, value: string): this {
    // Checked here, in the author's code, because the engine would only notice when no other response is possible.
    nodeHttp.validateHeaderName(name);
    nodeHttp.validateHeaderValue(name, value);
    const key = name.toLowerCase();
    if (key === "cache-control" && this.joinsCaching) this.cache(value);
    else this.headers[key] = value;
    if (key === "cache-control") this.#isCachingJoint = this.joinsCaching;
    return this;
  }
  /** Joins a value of `Cache-Control` to the one that is set, so that the strictest wins. */
  cache(value: string): void {
    const before = this.headers["cache-control"];
    this.#isCachingJoint = true;
    this.headers["cache-control"] = strictestCaching(before === undefined ? undefined : String(before), value);
  }
  cookie(name: string, value: string, options: CookieOptions = {}): this {
    // Each default is applied separately: an option that is present but `undefined` must not remove `Secure`.
    const { httpOnly = true, secure = true, sameSite = "lax", path = "/", domain, maxAgeSeconds } = options;
    const optional = {
      ...(domain === undefined ? {} : { domain }),
      ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
    };
    return this.#append("set-cookie", serializeCookie(name, value, { httpOnly, secure, sameSite, path, ...optional }));
  }
  clearCookie(name: string, options: Pick<CookieOptions, "path" | "domain"> = {}): this {
    return this.cookie(name, "", { ...options, maxAgeSeconds: 0 });
  }
  json<T>(body: T): TypedResponse<T, number> {
    this.body = { kind: "json", value: body };
    return this as TypedResponse<unknown> as TypedResponse<T>;
  }
  text(body: string): TypedResponse<string, number> {
    this.body = { kind: "plain", value: body, type: "text/plain; charset=utf-8" };
    return this as TypedResponse<unknown> as TypedResponse<string>;
  }
  html(body: string): TypedResponse<string, number> {
    this.body = { kind: "plain", value: body, type: "text/html; charset=utf-8" };
    return this as TypedResponse<unknown> as TypedResponse<string>;
  }
  bytes(body: Uint8Array, contentType = "application/octet-stream"): TypedResponse<unknown, number> {
    this.body = { kind: "plain", value: body, type: contentType };
    return this;
  }
  empty(): TypedResponse<null, number> {
    this.body = { kind: "none" };
    return this as TypedResponse<unknown> as TypedResponse<null>;
  }
  redirect(location: string, status: 301 | 302 | 303 | 307 | 308 = 303): TypedResponse<null> {
    // The location contains client input, and only an attacker sends control characters.
    if (/\p{Cc}/u.test(location)) throw new BadRequest("The redirect location contains control characters");
    this.code = status;
    this.headers["location"] = encodeLocation(location);
    return this.empty();
  }
  stream(source: StreamSource, contentType = "application/octet-stream"): TypedResponse<unknown, number> {
    // The stream may fail before it is sent, and again afterwards. The code that sends it handles the error, so nothing else
    // must.
    const value = toReadable(source).on("error", () => {});
    outlivesQuestions(this.#ctx);
    this.body = { kind: "stream", value, type: contentType };
    return this;
  }

  paginate(data: unknown, options?: unknown): any {
    const { strategy, page } = pageCall(this.#ctx, "paginate", data, options);
    return isPromise(page) ? this.#later(page.then((it) => this.#page(strategy, it))) : this.#page(strategy, page);
  }
  apaginate(data: unknown, options?: unknown): Promise<TypedResponse<any, number>> {
    return this.#later(this.#apaginate(data, options));
  }
  async #apaginate(data: unknown, options: unknown): Promise<TypedResponse<unknown, number>> {
    const { strategy, page } = pageCall(this.#ctx, "apaginate", data, options);
    return this.#page(strategy, await page);
  }
  page(data: unknown, options?: unknown): Promise<any> {
    return this.#later(this.#pageValue(data, options));
  }
  async #pageValue(data: unknown, options: unknown): Promise<Page<unknown, object>> {
    const { strategy, page } = pageCall(this.#ctx, "page", data, options);
    const value = await page;
    this.#link(strategy, value);
    return value;
  }
  #later(page: Promise<unknown>): Promise<any> {
    const promise = PagePromise.of(page);
    this.#pages = [...(this.#pages ?? []), promise];
    return promise;
  }

  /** Throws if a page is still pending when the handler has ended: it would come too late, or end up in another response. */
  checkPages(): void {
    if (this.#pages === null || this.#pages.every(({ isTaken }) => isTaken)) return;
    this.#ctx.renewOutgoing();
    throw new Error(
      "response.paginate, response.apaginate or response.page was neither returned nor awaited: return or await it",
    );
  }

  /** Throws if the handler has sent another body than the page that it read, whose rule would then have no effect. */
  checkPageSent(): void {
    if (this.#pageBody === null || this.body === this.#pageBody) return;
    this.#ctx.renewOutgoing();
    throw new Error(
      "the handler called response.paginate and then sent another body: return the page, or use response.page for a page as a value",
    );
  }

  #page(strategy: AnyStrategy, page: Page<unknown, object>): TypedResponse<unknown, number> {
    this.#link(strategy, page);
    const response = this.json(page);
    this.#pageBody = this.body;
    return response;
  }

  #link(strategy: AnyStrategy, page: Page<unknown, { readonly links?: unknown }>): void {
    const links = strategy.linkHeader ? linkHeader(page.pagination.links) : null;
    const before = this.headers["link"];
    if (links !== null) this.header("link", before === undefined ? links : `${String(before)}, ${links}`);
  }

  /** Adds names to `Vary` and keeps the existing ones. */
  vary(...names: readonly string[]): void {
    const { vary } = this.headers;
    if (vary === undefined) {
      if (names.length > 0) this.headers["vary"] = names.length === 1 ? (names[0] as string) : names.join(", ");
      return;
    }
    const before = String(vary).split(", ");
    const known = before.map((name) => name.toLowerCase());
    const added = names.filter((name) => !known.includes(name.toLowerCase()));
    this.headers["vary"] = [...before, ...added].join(", ");
  }

  /**
   * Keeps shared caches from storing a response that depends on the caller. `Vary` names what may have identified the caller,
   * for caches that may store it. Called once, before the headers are sent: until then the identity may still be read.
   */
  restrictCaching(): void {
    const caching = String(this.headers["cache-control"] ?? "no-store");
    if (!(this.#isCachingJoint || this.joinsCaching) || !this.#ctx.isIdentityRead || !isStorable(caching)) return;
    this.headers["cache-control"] = privateCaching(caching);
    const known = ["authorization", "cookie"];
    const read = [...this.#ctx.incoming.headersRead].filter((name) => !known.includes(name));
    this.vary("Authorization", "Cookie", ...read);
  }

  #append(name: string, value: string): this {
    const before = this.headers[name];
    this.headers[name] = before === undefined ? [value] : [...(Array.isArray(before) ? before : [before]), value];
    return this;
  }

  /** Marks the start of a handler, or of an exception handler. Everything set from now on is discarded if it fails. */
  mark(): void {
    this.#mark = Object.keys(this.headers).length === 0 ? NONE : { ...this.headers };
  }

  /** A new response with everything that middleware had set. */
  successor(): OutgoingResponse {
    const next = new OutgoingResponse(this.#ctx);
    next.headers = { ...(this.#mark ?? this.headers) };
    next.joinsCaching = this.joinsCaching;
    next.#isCachingJoint = this.#isCachingJoint;
    return next;
  }

  /**
   * Restores the state that middleware had set, for an error response: the cookies and cache rules of a failed handler are
   * discarded.
   */
  reset(): void {
    if (this.body?.kind === "stream") this.body.value.destroy();
    this.code = null;
    this.body = null;
    this.#pageBody = null;
    this.headers = { ...(this.#mark ?? this.headers) };
    this.#mark = null;
  }
}

/**
 * Encodes characters that are not valid in a URL, including the backslash, which browsers read as a slash. Encoded characters
 * stay as they are.
 */
function encodeLocation(location: string): string {
  return location
    .toWellFormed()
    .replace(/%(?![\da-f]{2})|[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+/gi, encodeURIComponent);
}

function toReadable(source: StreamSource): Readable {
  if (source instanceof Readable) return source;
  return "getReader" in source ? Readable.fromWeb(source) : Readable.from(source, { objectMode: false });
}
