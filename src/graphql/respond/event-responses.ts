import { isInstance } from "../../core/describe-error.ts";
import { inBackground } from "../../core/work/in-background.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { logFailure } from "../../kernel/context/log-failure.ts";
import { ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import { PubSubGap } from "../../stores/pub-sub.ts";
import type { FindingsSoFar } from "../admit/admitted.ts";
import type { ErrorFormat } from "../errors/error-format.ts";
import { handleExceptions } from "../errors/handle-exceptions.ts";
import type { ResultStream } from "../run/run-subscription.ts";
import { type OperationResponse, responseTo, responseToError } from "./operation-response.ts";

/**
 * Turns the results of a subscription into responses: formats and logs errors, and serializes each result once. It never
 * throws: if the subscription fails, its last response has the error and no data.
 */
export class EventResponses implements AsyncGenerator<OperationResponse, void, void> {
  readonly #results: ResultStream;
  readonly #ctx: BaseContext;
  readonly #errorFormat: ErrorFormat;
  readonly #findings: FindingsSoFar;
  #hasFailed = false;

  constructor(results: ResultStream, ctx: BaseContext, errorFormat: ErrorFormat, findings: FindingsSoFar) {
    this.#results = results;
    this.#ctx = ctx;
    this.#errorFormat = errorFormat;
    this.#findings = findings;
  }

  async next(): Promise<IteratorResult<OperationResponse, void>> {
    if (this.#hasFailed) return { done: true, value: undefined };
    try {
      const { done, value } = await this.#results.next();
      if (done === true) return { done, value };
      const position = this.#results.followed?.position;
      const handled = await handleExceptions(value, this.#ctx);
      return { done: false, value: await responseTo(handled, this.#ctx, this.#errorFormat, this.#findings, position) };
    } catch (error) {
      this.#hasFailed = true;
      return {
        done: false,
        value: responseToError(toClientError(error), this.#ctx, this.#errorFormat, this.#findings),
      };
    }
  }

  async return(): Promise<IteratorResult<OperationResponse, void>> {
    await this.#results.return();
    return { done: true, value: undefined };
  }

  /** Ends the subscription with this error as its last response. It does not wait for the generator to return. */
  async throw(error: unknown): Promise<IteratorResult<OperationResponse, void>> {
    this.#hasFailed = true;
    inBackground(this.#giveUp(error));
    return { done: false, value: responseToError(error, this.#ctx, this.#errorFormat, this.#findings) };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #giveUp(reason: unknown): Promise<void> {
    try {
      await this.#results.throw(reason);
    } catch (error) {
      if (error !== reason) logFailure(this.#ctx.services, this.#ctx.exchange, error);
    }
  }
}

/** Reports a gap to the client, because the client can subscribe again; other errors are unchanged. */
function toClientError(error: unknown): unknown {
  if (!isInstance(error, PubSubGap)) return error;
  return new ServiceUnavailable("Events may have been lost. Subscribe again.", { code: "PUBSUB_GAP", cause: error });
}
