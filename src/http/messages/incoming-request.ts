import type { Readable } from "node:stream";
import { parse as parseCookies } from "cookie-es";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { Incoming } from "../../kernel/context/messages.ts";
import type { RequestScope } from "../../kernel/context/portico-request.ts";
import type { Exchange, RawPath, RawQuery } from "../../kernel/exchange/exchange.ts";
import type { Caller } from "../../kernel/identity/identity.ts";
import type { SessionManager } from "../../kernel/identity/session-manager.ts";
import { sessionsOf } from "../../kernel/identity/session-manager.ts";
import { formBody, isBodyMissing, isUrlencoded, jsonBody, readBody } from "./read-body.ts";

/** The output of a schema, which may be `null` or `undefined`. */
interface Accepted {
  readonly output: unknown;
}

/** The request of a connection. Expensive properties are computed when they are first read. */
export class IncomingRequest implements Incoming {
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
  get headersRead(): Iterable<string> {
    return this.#headers?.names ?? [];
  }
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
    const sessions = sessionsOf.of(this.#ctx);
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

  accept(part: "params" | "query" | "body", value: unknown): void {
    this.#awaited = this.#awaited.filter((one) => one !== part);
    if (part === "params") this.#params = { output: value };
    else if (part === "query") this.#query = { output: value };
    else this.#body = value;
  }
  expect(parts: readonly ("params" | "query")[]): void {
    this.#awaited = parts;
  }
  get isUnread(): boolean {
    return this.#awaited.length > 0;
  }
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

  get isBodyMissing(): boolean {
    return isBodyMissing(this.#exchange);
  }
  get isForm(): boolean {
    return isUrlencoded(this.#exchange.headers["content-type"]);
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

type Headers = Readonly<Record<string, string | undefined>>;

/** RFC 9110 section 5.6.2: the characters of a name. Other names cannot be sent in `Vary`. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** The headers of a request. Records which of them are read, because a middleware may identify the caller by any of them. */
class RecordedHeaders {
  readonly names: Set<string> = new Set();
  readonly read: Headers;

  constructor(headers: Headers) {
    const record = (name: string | symbol): void => {
      if (typeof name === "string" && NAME.test(name)) this.names.add(name.toLowerCase());
    };
    this.read = new Proxy(headers, {
      get(target, name) {
        record(name);
        return Reflect.get(target, name) as unknown;
      },
      has(target, name) {
        record(name);
        return Reflect.has(target, name);
      },
      getOwnPropertyDescriptor(target, name) {
        record(name);
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
    });
  }
}
