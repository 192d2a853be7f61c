import { Readable } from "node:stream";
import { describeError, loggable } from "../../core/describe-error.ts";
import { inBackground } from "../../core/work/in-background.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { logFailure, logUnexpected } from "../../kernel/context/log-failure.ts";
import type { Outgoing } from "../../kernel/context/messages.ts";
import type { PorticoResponse } from "../../kernel/context/portico-response.ts";
import type { Payload } from "../../kernel/exchange/exchange.ts";
import { observationOf } from "../../kernel/hooks/request-hooks.ts";
import { chargeOf } from "../../kernel/limits/charge.ts";
import { inFlightOf } from "../../kernel/load/in-flight.ts";
import { watchStream } from "./watch-stream.ts";

/** How a handler ended: with the response that it wrote, or with an error. */
export type HandlerResult = { readonly kind: "done" } | { readonly kind: "failed"; readonly error: unknown };

export const DONE: HandlerResult = { kind: "done" };

export function failedWith(error: unknown): HandlerResult {
  return { kind: "failed", error };
}

/** Whether the time limit has passed: another response has then been sent. */
interface TimeLimit {
  readonly isOver: boolean;
}

const ON_TIME: TimeLimit = { isOver: false };

/**
 * Closes the dependencies of a request, then sends its response, which happens exactly once. So a response that says "saved" is
 * sent after the transaction has ended, and a transaction that could not end is a 500. A streamed response is sent first.
 */
export function respond(ctx: BaseContext, result: HandlerResult, time: TimeLimit = ON_TIME): void | Promise<void> {
  if (result.kind === "failed") return fail(ctx, result.error, time);
  const forgotten = ctx.forgottenCheck;
  if (forgotten !== null) return fail(ctx, forgotten, time);
  // A stream may read from the dependencies until its end, and its outcome is not known before.
  if (ctx.outgoing.body?.kind === "stream")
    return send(ctx, time, (isFailed) => {
      ctx.settle(isFailed ? "failure" : "success");
      inBackground(closeQuietly(ctx), ctx.log);
    });
  ctx.settle("success");
  const closing = ctx.closeDependencies();
  return closing === undefined ? send(ctx, time) : sendWhenClosed(ctx, closing, time);
}

async function sendWhenClosed(ctx: BaseContext, closing: Promise<readonly unknown[]>, time: TimeLimit): Promise<void> {
  const errors = await closing;
  // By the number of errors, because the first may be `undefined`.
  const isFailed = errors.length > 0;
  for (const error of time.isOver ? errors : errors.slice(1)) logFailure(ctx.services, ctx.exchange, error);
  if (time.isOver) return;
  const forgotten = ctx.forgottenCheck;
  if (isFailed) return respondToError(ctx, errors[0]);
  await (forgotten === null ? send(ctx, time) : respondToError(ctx, forgotten));
}

function send(ctx: BaseContext, time: TimeLimit, streamEnded?: (isFailed: boolean) => void): void | Promise<void> {
  try {
    transmit(ctx, streamEnded);
  } catch (error) {
    return fail(ctx, error, time);
  }
}

async function fail(ctx: BaseContext, error: unknown, time: TimeLimit): Promise<void> {
  ctx.settle("failure");
  await closeQuietly(ctx);
  if (!time.isOver) await respondToError(ctx, error);
}

/** Sends the response for an error: from the exception handler of its class, else a problem. */
export async function respondToError(ctx: BaseContext, error: unknown): Promise<void> {
  const { services, outgoing } = ctx;
  ctx.error = error;
  outgoing.reset();
  const handler = services.exceptionHandlers.find(error);
  if (handler === null) return respondProblem(ctx, error);
  outgoing.mark();
  try {
    writeResult(outgoing, await handler(ctx.request, outgoing as PorticoResponse<number> as PorticoResponse, error));
    transmit(ctx);
  } catch (failure) {
    outgoing.reset();
    respondProblem(ctx, failure);
  }
}

/** Writes the return value of a handler into the response: a response as it is, nothing as 204, any other value as JSON. */
export function writeResult(outgoing: Outgoing, value: unknown): void {
  outgoing.checkPages();
  if (value === outgoing || value === undefined) outgoing.body ??= { kind: "none" };
  else outgoing.json(value);
  outgoing.checkPageSent();
}

/** Passes the response to the engine; `streamEnded` is called at the end of a stream. */
function transmit(ctx: BaseContext, streamEnded: (isFailed: boolean) => void = ignore): void {
  const { exchange, outgoing, services } = ctx;
  let payload: Payload;
  try {
    payload = payloadOf(ctx);
  } catch (error) {
    // JSON cannot represent every value, such as a cycle or a BigInt.
    outgoing.reset();
    return respondProblem(ctx, error);
  }
  if (!services.origins.isEmpty) {
    outgoing.vary("Origin");
    for (const [name, value] of Object.entries(services.origins.corsHeaders(exchange) ?? {}))
      outgoing.header(name, value);
  }
  chargeOf.of(ctx)?.writeTo(outgoing.headers);
  outgoing.restrictCaching();
  const status = statusOf(outgoing);
  const stream = outgoing.body?.kind === "stream" ? outgoing.body.value : null;
  if (stream !== null)
    watchStream(ctx, stream, (isFailed, isReplaced) => {
      streamEnded(isFailed);
      if (!isReplaced) observationOf.of(ctx)?.responded(status, ctx.error);
    });
  // This comes first, because the request is no longer in flight even if sending fails.
  inFlightOf.of(ctx)?.leave();
  exchange.send(status, outgoing.headers, payload);
  if (stream === null) observationOf.of(ctx)?.responded(status, ctx.error);
}

function ignore(): void {}

/** The status that will be sent: 200, or 204 without a body, unless one was set. */
export function statusOf({ code, body }: Outgoing): number {
  return code ?? (body?.kind === "none" ? 204 : 200);
}

/** Closes the dependencies when the response is already decided: errors are only logged. */
export async function closeQuietly(ctx: BaseContext): Promise<void> {
  const errors = await ctx.closeDependencies();
  for (const error of errors ?? []) logFailure(ctx.services, ctx.exchange, error);
  // A check in code whose response was sent by others, or before the check was made.
  const forgotten = ctx.forgottenCheck;
  if (forgotten !== null) logFailure(ctx.services, ctx.exchange, forgotten);
}

function respondProblem(ctx: BaseContext, error: unknown): void {
  const { outgoing } = ctx;
  outgoing.mark();
  try {
    ctx.renderError(ctx, error);
  } catch (failure) {
    // The exception has a status or a header that is not valid in HTTP.
    outgoing.reset();
    ctx.renderError(ctx, new Error(describeError(failure), { cause: loggable(error) }));
  }
  try {
    transmit(ctx);
  } catch (failure) {
    // There is nothing left to send, and an unhandled rejection would end the process.
    logUnexpected(ctx.services, ctx.exchange, failure);
    ctx.exchange.cut(failure);
    observationOf.of(ctx)?.responded(500, failure);
  }
}

/** The response of a context that has been rendered, as it would be sent without CORS headers. */
export function renderResponse(ctx: BaseContext): {
  readonly status: number;
  readonly headers: Outgoing["headers"];
  readonly payload: Payload;
} {
  const payload = payloadOf(ctx);
  ctx.outgoing.restrictCaching();
  return { status: statusOf(ctx.outgoing), headers: ctx.outgoing.headers, payload };
}

function payloadOf({ outgoing, exchange }: BaseContext): Payload {
  const { body, headers } = outgoing;
  if (body === null) throw new Error("a middleware neither responded nor called next()");
  switch (body.kind) {
    case "none":
      return null;
    case "json":
      headers["content-type"] ??= "application/json; charset=utf-8";
      return JSON.stringify(body.value) ?? "null";
    case "plain":
      headers["content-type"] ??= body.type;
      return body.value;
    case "stream":
      headers["content-type"] ??= body.type;
      if (exchange.method !== "HEAD") return body.value;
      body.value.destroy();
      // Not `null`, for which the engine would send a content length of 0.
      return Readable.from([]);
  }
}
