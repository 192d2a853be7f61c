import { andThen, type MaybePromise, orElse } from "../../core/maybe-promise.ts";
import { asksForPage } from "../../http/html/parse-accept.ts";
import type { BaseContext, HttpContext } from "../../kernel/context/http-context.ts";
import type { RenderError } from "../../kernel/context/messages.ts";
import type { MiddlewareFunction } from "../../kernel/context/middleware-function.ts";
import { HttpException, MethodNotAllowed } from "../../kernel/exceptions/http-exception.ts";
import type { Exchange } from "../../kernel/exchange/exchange.ts";
import { settledError } from "../errors/error-format.ts";
import { formatErrors } from "../errors/format-errors.ts";
import { toGraphRefusal } from "../errors/to-graph-refusal.ts";
import type { Explorer } from "../ide/explorer.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { openRequest, runRequest } from "../pipeline/run-request.ts";
import { type RequestParams, readRequestParams } from "../request/request-params.ts";
import type { OperationResponse } from "../respond/operation-response.ts";
import { type LiveSubscription, onlyResponse } from "../streams/live-subscription.ts";
import { EventStream, STREAM_TYPE } from "../subscriptions/event-stream.ts";
import type { Subscriptions } from "../subscriptions/subscriptions.ts";
import type { Uploads } from "../uploads/uploads.ts";
import { checkForgery } from "./check-forgery.ts";
import { asksForStream, JSON_TYPE, negotiate, RESPONSE_TYPES, type ResponseType } from "./negotiate.ts";
import { carriesQuery, type GraphRequest, RequestReaders } from "./request-reader.ts";
import type { Transport } from "./transport.ts";

export interface EndpointOptions {
  readonly transport: Transport;
  readonly uploads: Uploads;
  /** The page for browsers that open the address; `null` if it is disabled. */
  readonly explorer: Explorer | null;
  /** How events are streamed; `null` if subscriptions are disabled. */
  readonly subscriptions: Subscriptions | null;
  /** Limits how often a client may open a stream. */
  readonly connectLimit: MiddlewareFunction | null;
}

/**
 * Serves GraphQL over HTTP. If several errors apply to a request, the method is reported first, then media types, then CSRF,
 * then errors that need the document.
 */
export class Endpoint {
  readonly #pipeline: Pipeline;
  readonly #options: EndpointOptions;
  readonly #readers: RequestReaders;
  /** Rejects a client that opens streams too often. */
  readonly #limitStreams = async (ctx: BaseContext): Promise<void> => {
    await this.#options.connectLimit?.(ctx as HttpContext, async () => {});
  };

  constructor(pipeline: Pipeline, options: EndpointOptions) {
    this.#pipeline = pipeline;
    this.#options = options;
    this.#readers = new RequestReaders(options);
  }

  serve(ctx: HttpContext): MaybePromise<void> {
    return orElse(
      () => {
        // Its fields are written by several authors.
        ctx.outgoing.joinsCaching = true;
        const { explorer } = this.#options;
        // The page executes nothing, so it needs no CSRF check.
        if (explorer !== null && isPageVisit(ctx)) return explorer.serve(ctx);
        this.#checkMethod(ctx.exchange.method);
        const reader = this.#readers.choose(ctx.exchange);
        const type = this.#negotiate(ctx.exchange);
        if (type === null && !this.#mayStream(ctx))
          throw new HttpException(406, `The response is ${JSON_TYPE}, but the Accept header does not allow it`, {
            code: "NOT_ACCEPTABLE",
          });
        if (reader.isForgeable) checkForgery(ctx);
        return andThen(reader.read(ctx), (request) => this.#run(ctx, type, request));
      },
      (error) => this.renderError(ctx, error),
    );
  }

  /** Writes an error as a GraphQL response, also one from the route's gate or middleware. */
  readonly renderError: RenderError = Object.assign(
    (ctx: BaseContext, error: unknown) => this.#renderError(ctx, error),
    { variantOf: (exchange: Exchange) => this.#negotiate(exchange) ?? JSON_TYPE },
  );

  #renderError(ctx: BaseContext, error: unknown): void {
    const { status, headers, errors } = toGraphRefusal(error);
    const body = { errors: formatErrors(errors, ctx, this.#pipeline.errorFormat) };
    this.#write(ctx, this.#negotiate(ctx.exchange) ?? JSON_TYPE, { status, headers, body: JSON.stringify(body) });
  }

  #checkMethod(method: string): void {
    const { transport, explorer } = this.#options;
    const isRead = method === "GET" || method === "HEAD";
    if (method === "POST" || (transport.getQueries && isRead)) return;
    // Browsers load the page with GET even if queries must not use it.
    const isGetAllowed = transport.getQueries || (explorer !== null && !isRead);
    throw new MethodNotAllowed(method, isGetAllowed ? ["GET", "POST"] : ["POST"]);
  }

  #negotiate(exchange: Exchange): ResponseType | null {
    const { graphqlContentType } = this.#options.transport;
    return negotiate(exchange.headers.accept, { graphqlContentType, isGet: exchange.method !== "POST" });
  }

  /** Whether the client accepts a stream of events. A `HEAD` request would hang on one. */
  #mayStream({ exchange }: BaseContext): boolean {
    return this.#options.subscriptions !== null && exchange.method !== "HEAD" && asksForStream(exchange.headers.accept);
  }

  /** `type` is `null` for a client that accepts only a stream. */
  #run(ctx: HttpContext, type: ResponseType | null, request: GraphRequest): MaybePromise<void> {
    const run = (): MaybePromise<void> =>
      request.kind === "batch"
        ? this.#runBatch(ctx, type ?? JSON_TYPE, request.entries)
        : this.#runSingle(ctx, type, request.params);
    return request.dispose === undefined ? run() : runAndDispose(run, request.dispose);
  }

  #runSingle(ctx: HttpContext, type: ResponseType | null, params: RequestParams): MaybePromise<void> {
    const mayStream = this.#mayStream(ctx);
    const read = (): RequestParams => (mayStream ? afterLastEvent(ctx, params) : params);
    const opening = openRequest(this.#pipeline, ctx, read, {
      isAlone: true,
      isGet: ctx.exchange.method !== "POST",
      takes: mayStream ? "either" : "response",
      beforeStream: this.#limitStreams,
    });
    return andThen(opening, (opened) => {
      // The client has disconnected, or has already received a timeout.
      if (opened.kind === "stream" && ctx.signal.aborted) return opened.leave();
      if (opened.kind === "stream") return this.#stream(ctx, opened);
      if (type === null && opened.status === 200) return this.#stream(ctx, onlyResponse(opened));
      const { headers, text } = opened;
      const isOk = type === JSON_TYPE && this.#options.transport.invalidAsOk && isInvalid(opened);
      const status = isOk ? 200 : opened.status;
      this.#write(ctx, type ?? JSON_TYPE, { status, headers, body: text, isCacheable: isClean(opened) });
    });
  }

  #stream(ctx: HttpContext, live: LiveSubscription): void {
    const { outgoing } = ctx;
    const { subscriptions } = this.#options;
    if (subscriptions === null) throw new Error("a stream was opened while subscriptions are disabled");
    // `no-transform` keeps proxies from compressing the stream, and the second header keeps nginx from buffering it.
    outgoing.headers["cache-control"] = "no-store, no-transform";
    outgoing.header("x-accel-buffering", "no");
    outgoing.header("x-content-type-options", "nosniff");
    outgoing.vary("Accept");
    outgoing.status(200);
    outgoing.stream(new EventStream(ctx, live, subscriptions), `${STREAM_TYPE}; charset=utf-8`);
  }

  /** Runs the operations in order, and starts no further one after the client has disconnected. */
  async #runBatch(ctx: HttpContext, type: ResponseType, entries: readonly unknown[]): Promise<void> {
    const texts: string[] = [];
    for (const entry of entries) {
      if (ctx.signal.aborted) break;
      const arrival = { isAlone: false, isGet: false, isFurther: texts.length > 0 };
      const { text } = await runRequest(this.#pipeline, ctx, () => readRequestParams(entry), arrival);
      texts.push(text);
    }
    this.#write(ctx, type, { status: 200, headers: {}, body: `[${texts.join(",")}]` });
  }

  #write(ctx: BaseContext, type: ResponseType, response: WrittenResponse): void {
    const { outgoing } = ctx;
    const label = this.#options.transport.responseContentType ? type : JSON_TYPE;
    const isCached = response.isCacheable === true && outgoing.headers["cache-control"] !== undefined;
    for (const name in response.headers) outgoing.header(name, response.headers[name] as string);
    outgoing.vary("Accept");
    // Constants need no validation.
    if (!isCached) outgoing.headers["cache-control"] = "no-store";
    outgoing.headers["content-type"] = CONTENT_TYPES[label];
    outgoing.status(response.status);
    outgoing.text(response.body);
  }
}

const CONTENT_TYPES: Readonly<Record<ResponseType, string>> = {
  "application/json": "application/json; charset=utf-8",
  "application/graphql-response+json": "application/graphql-response+json; charset=utf-8",
};

interface WrittenResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the cache headers that a resolver set apply. */
  readonly isCacheable?: boolean;
}

async function runAndDispose(run: () => MaybePromise<void>, dispose: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    await dispose();
  }
}

/** A browser's `EventSource` sends the id of the last event, which is newer than the position in its address. */
function afterLastEvent({ exchange }: HttpContext, params: RequestParams): RequestParams {
  const position = exchange.headers["last-event-id"];
  if (typeof position !== "string" || position === "") return params;
  return { ...params, extensions: { ...params.extensions, position } };
}

/** Whether a browser opens the address. An address with a query is executed instead. */
function isPageVisit({ exchange }: HttpContext): boolean {
  const isRead = exchange.method === "GET" || exchange.method === "HEAD";
  return isRead && asksForPage(exchange.headers.accept, RESPONSE_TYPES) && !carriesQuery(exchange);
}

const INVALID: ReadonlySet<string> = new Set(["GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"]);

/** Whether the operation was rejected because it does not validate, or because its variables don't fit. */
function isInvalid({ status, body: { errors = [] } }: OperationResponse): boolean {
  return status === 400 && errors.every((error) => INVALID.has(settledError(error).extensions.code));
}

/** Whether caches may store the response: one with errors must not be stored. */
function isClean({ status, body }: OperationResponse): boolean {
  return status === 200 && body.errors === undefined;
}
