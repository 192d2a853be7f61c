import type { BaseContext, HttpContext } from "../../http/context.ts";
import { HttpException, MethodNotAllowed } from "../../http/exceptions.ts";
import { formatError } from "../errors/format-error.ts";
import { toRefusal } from "../errors/to-refusal.ts";
import { type OperationAnswer, type Pipeline, runRequest } from "../execute/run-request.ts";
import type { Uploads } from "../uploads/uploads.ts";
import { checkForgery } from "./check-forgery.ts";
import { JSON_TYPE, negotiate, type ResponseType } from "./negotiate.ts";
import { chooseReader, type GraphRequest } from "./read-request.ts";
import { readParams } from "./request-params.ts";
import type { Transport } from "./transport.ts";

export interface EndpointOptions {
  readonly transport: Transport;
  readonly uploads: Uploads;
}

/**
 * GraphQL over HTTP: reads, refuses, runs, answers. Where several refusals fit, the first of method, media types and forgery
 * answers, then those that need the document.
 */
export class Endpoint {
  readonly #pipeline: Pipeline;
  readonly #options: EndpointOptions;

  constructor(pipeline: Pipeline, options: EndpointOptions) {
    this.#pipeline = pipeline;
    this.#options = options;
  }

  async serve(ctx: HttpContext): Promise<void> {
    try {
      this.#checkMethod(ctx.exchange.method);
      const reader = chooseReader(ctx, this.#options);
      const type = this.#negotiate(ctx);
      if (type === null)
        throw new HttpException(406, `The answer is ${JSON_TYPE}, and Accept does not take it`, {
          code: "NOT_ACCEPTABLE",
        });
      if (reader.isForgeable) checkForgery(ctx);
      await this.#run(ctx, type, await reader.read(ctx));
    } catch (error) {
      this.renderError(ctx, error);
    }
  }

  /** The answer to a refusal, also to one of the route's gate or middleware. */
  renderError(ctx: BaseContext, error: unknown): void {
    const { status, headers, errors } = toRefusal(error);
    const body = { errors: errors.map((entry) => formatError(entry, ctx, this.#pipeline.isDebug)) };
    this.#write(ctx, this.#negotiate(ctx) ?? JSON_TYPE, { status, headers, body: JSON.stringify(body) });
  }

  #checkMethod(method: string): void {
    const { getQueries } = this.#options.transport;
    if (method === "POST" || (getQueries && (method === "GET" || method === "HEAD"))) return;
    throw new MethodNotAllowed(method, getQueries ? ["GET", "POST"] : ["POST"]);
  }

  #negotiate({ exchange }: BaseContext): ResponseType | null {
    const { graphqlContentType } = this.#options.transport;
    return negotiate(exchange.headers.accept, { graphqlContentType, isGet: exchange.method !== "POST" });
  }

  async #run(ctx: HttpContext, type: ResponseType, request: GraphRequest): Promise<void> {
    if (request.kind === "batch") {
      const texts = await this.#runBatch(ctx, request.entries);
      return this.#write(ctx, type, { status: 200, headers: {}, body: `[${texts.join(",")}]` });
    }
    try {
      const answer = await runRequest(this.#pipeline, ctx, () => request.params, {
        isAlone: true,
        isGet: ctx.exchange.method !== "POST",
      });
      const { status, headers, text } = answer;
      this.#write(ctx, type, { status, headers, body: text, isCacheable: isClean(answer) });
    } finally {
      await request.dispose?.();
    }
  }

  /** One after another; when the client has left, the next does not start. */
  async #runBatch(ctx: HttpContext, entries: readonly unknown[]): Promise<readonly string[]> {
    const texts: string[] = [];
    for (const entry of entries) {
      if (ctx.signal.aborted) break;
      const { text } = await runRequest(this.#pipeline, ctx, () => readParams(entry), { isAlone: false, isGet: false });
      texts.push(text);
    }
    return texts;
  }

  #write(ctx: BaseContext, type: ResponseType, answer: Answer): void {
    const { outgoing } = ctx;
    const label = this.#options.transport.responseContentType ? type : JSON_TYPE;
    const isCached = answer.isCacheable === true && outgoing.headers["cache-control"] !== undefined;
    if (!isCached) outgoing.header("cache-control", "no-store");
    outgoing.vary(isCached && ctx.isIdentityRead ? "Accept, Authorization, Cookie" : "Accept");
    for (const [name, value] of Object.entries(answer.headers)) outgoing.header(name, value);
    outgoing.header("x-content-type-options", "nosniff");
    outgoing.header("content-type", `${label}; charset=utf-8`);
    outgoing.status(answer.status);
    outgoing.text(answer.body);
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether what a resolver said about caching holds. */
  readonly isCacheable?: boolean;
}

/** An answer with errors is nobody's to keep. */
function isClean({ status, body }: OperationAnswer): boolean {
  return status === 200 && body.errors === undefined;
}
