import { Readable } from "node:stream";
import type { Payload } from "../context/exchange.ts";
import type { BaseContext } from "../context/http-context.ts";
import type { OutgoingResponse, PorticoResponse } from "../context/portico-response.ts";
import { logFailure, logUnexpected } from "../context/render-problem.ts";
import { watchStream } from "./watch-stream.ts";

/** What a handler returned becomes the answer: a response as it is, nothing as 204, any other value as JSON. */
export function answer(outgoing: OutgoingResponse, value: unknown): void {
  outgoing.checkPages();
  if (value === outgoing || value === undefined) outgoing.body ??= { kind: "none" };
  else outgoing.json(value);
}

/** The answer to an error: by the application's handler of its class, else as a problem. */
export async function respond(ctx: BaseContext, error: unknown): Promise<void> {
  const { services, outgoing } = ctx;
  outgoing.reset();
  const handler = services.exceptionHandlers.find(error);
  if (handler === null) return respondProblem(ctx, error);
  try {
    answer(outgoing, await handler(ctx.request, outgoing as PorticoResponse<number> as PorticoResponse, error));
    transmit(ctx);
  } catch (failure) {
    outgoing.reset();
    respondProblem(ctx, failure);
  }
}

/** Sends what the context's response says; `streamEnded` is called when that is a stream, at its end. */
export function transmit(ctx: BaseContext, streamEnded: (isFailed: boolean) => void = ignore): void {
  const { exchange, outgoing, services } = ctx;
  let payload: Payload;
  try {
    payload = payloadOf(ctx);
  } catch (error) {
    // What JSON cannot say, such as a cycle or a BigInt.
    outgoing.reset();
    return respondProblem(ctx, error);
  }
  if (!services.origins.isEmpty) {
    outgoing.vary("Origin");
    for (const [name, value] of Object.entries(services.origins.corsHeaders(exchange) ?? {}))
      outgoing.header(name, value);
  }
  if (outgoing.body?.kind === "stream") watchStream(ctx, outgoing.body.value, streamEnded);
  // First: whatever becomes of the response, the request is no longer in flight.
  ctx.inFlight?.leave();
  exchange.send(statusOf(outgoing), outgoing.headers, payload);
}

function ignore(): void {}

/** The status that will be sent: 200, or 204 without a body, unless one was set. */
export function statusOf({ code, body }: OutgoingResponse): number {
  return code ?? (body?.kind === "none" ? 204 : 200);
}

/** Closes the dependencies when the answer is decided already: what fails is logged. */
export async function closeQuietly(ctx: BaseContext): Promise<void> {
  const errors = await ctx.closeDependencies();
  for (const error of errors ?? []) logFailure(ctx.services, ctx.exchange, error);
}

function respondProblem(ctx: BaseContext, error: unknown): void {
  const { outgoing } = ctx;
  outgoing.mark();
  try {
    ctx.renderError(ctx, error);
  } catch (failure) {
    // An exception with a status or a header that HTTP does not have.
    outgoing.reset();
    ctx.renderError(ctx, new Error((failure as Error).message, { cause: error }));
  }
  try {
    transmit(ctx);
  } catch (failure) {
    // Nothing else is left to be sent, and a rejection that nothing handles would end the process.
    logUnexpected(ctx.services, ctx.exchange, failure);
    ctx.exchange.cut(failure);
  }
}

function payloadOf({ outgoing, exchange }: BaseContext): Payload {
  const { body, headers } = outgoing;
  if (body === null) throw new Error("a middleware neither answered nor called next()");
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
      // Not `null`: of that the engine says that its length is 0.
      return Readable.from([]);
  }
}
