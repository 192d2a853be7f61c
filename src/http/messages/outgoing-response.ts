import { Readable } from "node:stream";
import { serialize as serializeCookie } from "cookie-es";
import { toError } from "../../core/describe-error.ts";
import { isPromise } from "../../core/maybe-promise.ts";
import { nodeHttp } from "../../core/node-http.ts";
import { NoticedPromise } from "../../core/work/noticed-promise.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { outlivesQuestions } from "../../kernel/context/memo-of.ts";
import type { Body, Outgoing } from "../../kernel/context/messages.ts";
import type {
  CookieOptions,
  PorticoResponse,
  StreamSource,
  TypedResponse,
} from "../../kernel/context/portico-response.ts";
import { BadRequest } from "../../kernel/exceptions/http-exception.ts";
import { pageCall } from "../../kernel/pages/page-call.ts";
import { linkHeader } from "../../pagination/query/links.ts";
import type { Page } from "../../pagination/strategies/base-pagination-strategy.ts";
import type { AnyStrategy } from "../../pagination/strategies/strategy-by-name.ts";
import { isStorable, privateCaching, strictestCaching } from "./strictest-caching.ts";

const NONE: Readonly<Record<string, never>> = Object.freeze({});

/** The response that a handler builds. */
export class OutgoingResponse implements Outgoing {
  readonly "~kind" = "response" as const;
  code: number | null = null;
  headers: Record<string, string | string[]> = {};
  body: Body | null = null;
  #pages: NoticedPromise<unknown>[] | null = null;
  /** The body that `paginate` set. */
  #pageBody: Body | null = null;
  #mark: Readonly<Record<string, string | string[]>> | null = null;
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
    const value = toReadable(source, this.#ctx).on("error", () => {});
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
    const promise = NoticedPromise.of(() => page);
    this.#pages = [...(this.#pages ?? []), promise];
    return promise;
  }

  checkPages(): void {
    if (this.#pages === null || this.#pages.every(({ isTaken }) => isTaken)) return;
    this.#ctx.renewOutgoing();
    throw new Error(
      "response.paginate, response.apaginate or response.page was neither returned nor awaited: return or await it",
    );
  }

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

  mark(): void {
    this.#mark = Object.keys(this.headers).length === 0 ? NONE : { ...this.headers };
  }

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

function toReadable(source: StreamSource, ctx: BaseContext): Readable {
  if (source instanceof Readable) return source;
  return "getReader" in source ? Readable.fromWeb(source) : Readable.from(checked(source, ctx), { objectMode: false });
}

/** Sends no part that was produced without waiting for a check. */
async function* checked<T>(source: AsyncIterable<T>, ctx: BaseContext): AsyncGenerator<T, void, void> {
  try {
    for await (const part of source) {
      const forgotten = ctx.forgottenCheck;
      if (forgotten !== null) throw forgotten;
      yield part;
    }
  } catch (error) {
    // A stream that is destroyed with a value that cannot be read never ends.
    throw toError(error);
  }
}
