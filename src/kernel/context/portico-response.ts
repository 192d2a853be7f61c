import type { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { DataHandler, PageSource, Sorting } from "../../pagination/handlers/data-handler.ts";
import type { PageOf, PaginateOptions, StrategyFor } from "../../pagination/strategies/strategy-by-name.ts";

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
