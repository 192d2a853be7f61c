import type { Readable } from "node:stream";
import { parse as parseCookies } from "cookie-es";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { Credential } from "../identity/credential.ts";
import type { AuthScope, Caller } from "../identity/identity.ts";
import type { SessionManager } from "../identity/session-manager.ts";
import type { Exchange, RawPath, RawQuery } from "./exchange.ts";
import type { BaseContext } from "./http-context.ts";
import { formBody, isBodyMissing, jsonBody, readBody } from "./read-body.ts";
import { RecordedHeaders } from "./validity/recorded-headers.ts";

/** The caller, the backend that authenticated it, and its credential, as `request.scope` holds them. */
export interface RequestScope<U = Caller, S = AuthScope | null> {
  readonly user: U;
  readonly auth: S;
  /** The facts about the credential, such as the `claims` of a token; `undefined` for an anonymous caller. */
  readonly credential?: Credential;
}

/**
 * The request that a handler receives. `params`, `query` and `body` are the output of the route's schemas. The methods that
 * read the body are for routes without a `body` schema. They read it once, and return the same value when called again.
 */
export interface PorticoRequest<U = Caller, S = AuthScope | null, Path = RawPath, Body = unknown, Query = RawQuery> {
  readonly method: string;
  /** The full URL, with the protocol and host that the client sees, from `publicUrl` or trusted proxies. */
  readonly url: string;
  /** Names in lower case; a header sent several times is joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies: Readonly<Record<string, string | undefined>>;
  /** The client's address, as trusted proxies forward it. */
  readonly ip: string;
  readonly user: U;
  readonly scope: RequestScope<U, S>;
  /** Signs users in and out, lists and revokes sessions. Throws if no `SessionMiddleware` runs before. */
  readonly sessions: SessionManager;
  /** Aborts when the client disconnects or the request times out. */
  readonly signal: AbortSignal;
  readonly params: Path;
  readonly query: Query;
  readonly body: Body;
  /** The body as JSON. 415 for another content type, 400 for invalid JSON, 413 above `maxBody`. */
  json(): Promise<unknown>;
  /** The body as text, decoded from UTF-8. */
  text(): Promise<string>;
  /** The raw body. */
  bytes(): Promise<Uint8Array>;
  /** The body as a form, urlencoded or multipart, in memory. */
  form(): Promise<FormData>;
  /** The body as a stream. `maxBody` does not apply to it. */
  readonly stream: Readable;
}

/** The output of a schema, which may be `null` or `undefined`. */
interface Accepted {
  readonly output: unknown;
}

/** The only implementation of `PorticoRequest`. Expensive properties are computed when they are first read. */
export class IncomingRequest implements PorticoRequest {
  readonly #ctx: BaseContext;
  readonly #exchange: Exchange;
  readonly #maxBody: number;
  readonly #publicUrl: string | null;
  #headers: RecordedHeaders | undefined;
  #cookies: Readonly<Record<string, string | undefined>> | undefined;
  #bytes: Promise<Buffer> | undefined;
  #params: Accepted | null = null;
  #query: Accepted | null = null;
  #body: unknown;
  #awaited: readonly ("params" | "query")[] = [];
  #isWithheld = false;

  constructor(ctx: BaseContext, exchange: Exchange, maxBody: number, publicUrl: string | null) {
    this.#ctx = ctx;
    this.#exchange = exchange;
    this.#maxBody = maxBody;
    this.#publicUrl = publicUrl;
  }

  get method(): string {
    return this.#exchange.method;
  }
  get url(): string {
    const { protocol, host, target } = this.#exchange;
    return `${this.#publicUrl ?? `${protocol}://${host}`}${target}`;
  }
  get headers(): Readonly<Record<string, string | undefined>> {
    this.#headers ??= new RecordedHeaders(this.#exchange.headers as Readonly<Record<string, string | undefined>>);
    return this.#headers.read;
  }
  /** @internal The names of the headers that the application has read. */
  get headersRead(): Iterable<string> {
    return this.#headers?.names ?? [];
  }
  /** @internal All values of a header, in the order sent. For some headers, `headers` only has the first. */
  everyValue(name: string): readonly string[] {
    const { rawHeaders } = this.#exchange;
    return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  }
  get cookies(): Readonly<Record<string, string | undefined>> {
    this.#cookies ??= parseCookies(this.#exchange.headers.cookie ?? "");
    return this.#cookies;
  }
  get ip(): string {
    return this.#exchange.ip;
  }
  get user(): Caller {
    return this.#ctx.user;
  }
  get scope(): RequestScope {
    return this.#ctx.scope;
  }
  get sessions(): SessionManager {
    const { sessions } = this.#ctx;
    if (sessions === null)
      throw new Error("request.sessions is not available: add SessionMiddleware before AuthenticationMiddleware");
    return sessions;
  }
  get signal(): AbortSignal {
    return this.#ctx.signal;
  }
  get params(): RawPath {
    this.#checkReadable();
    return (this.#params === null ? this.#exchange.params : this.#params.output) as RawPath;
  }
  get query(): RawQuery {
    this.#checkReadable();
    return (this.#query === null ? this.#exchange.query : this.#query.output) as RawQuery;
  }
  get body(): unknown {
    return this.#body;
  }
  get stream(): Readable {
    return this.#exchange.body();
  }

  /** Stores the output of a schema as a part of the request. */
  accept(part: "params" | "query" | "body", value: unknown): void {
    this.#awaited = this.#awaited.filter((one) => one !== part);
    if (part === "params") this.#params = { output: value };
    else if (part === "query") this.#query = { output: value };
    else this.#body = value;
  }
  /** @internal Names the parts that a schema is going to parse. */
  expect(parts: readonly ("params" | "query")[]): void {
    this.#awaited = parts;
  }
  /** @internal Whether `params` or `query` still have another form than the one that the handler receives. */
  get isUnread(): boolean {
    return this.#awaited.length > 0;
  }
  /** @internal Asks the gates that decide about the caller alone. They cannot read parts that are not parsed yet. */
  withheld<T>(ask: () => MaybePromise<T>): MaybePromise<T> {
    if (!this.isUnread) return ask();
    const end = (): void => {
      this.#isWithheld = false;
    };
    this.#isWithheld = true;
    try {
      const asked = ask();
      if (isPromise(asked)) return Promise.resolve(asked).finally(end);
      end();
      return asked;
    } catch (error) {
      end();
      throw error;
    }
  }
  #checkReadable(): void {
    if (this.#isWithheld)
      throw new Error(
        "a gate read the path or the query before they were parsed: take them from the second parameter, (user, { path, query }) => ...",
      );
  }

  /** @internal */
  get isBodyMissing(): boolean {
    return isBodyMissing(this.#exchange);
  }
  bytes(): Promise<Buffer> {
    this.#bytes ??= readBody(this.#exchange, this.#maxBody);
    return this.#bytes;
  }
  async text(): Promise<string> {
    return (await this.bytes()).toString("utf8");
  }
  json(): Promise<unknown> {
    return jsonBody(this.#exchange.headers["content-type"], () => this.bytes());
  }
  form(): Promise<FormData> {
    return formBody(this.#exchange.headers["content-type"], () => this.bytes());
  }
}
