import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import { inBackground } from "../../core/work/in-background.ts";
import { withContext } from "../../kernel/context/current-context.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import { logFailure } from "../../kernel/context/log-failure.ts";
import { HttpException, ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import { inFlightOf } from "../../kernel/load/in-flight.ts";
import { type HandlerLimits, HandlerTime } from "./handler-time.ts";
import { closeQuietly, DONE, failedWith, respond, respondToError } from "./respond.ts";
import type { RunRoute } from "./run-route.ts";

/** How long a handler may take, and how long its dependencies stay open afterwards. */
export interface ServeOptions extends HandlerLimits {
  readonly graceMs: number;
}

/** Runs the handler of one request within its time limit, and responds with its result exactly once. */
export function serve(ctx: HttpContext, run: RunRoute, options: ServeOptions): void {
  withContext(ctx, () => {
    let running: MaybePromise<void>;
    try {
      running = run(ctx);
    } catch (error) {
      return inBackground(respond(ctx, failedWith(error)), ctx.log);
    }
    if (isPromise(running)) inBackground(respondInTime(ctx, running, options), ctx.log);
    else inBackground(respond(ctx, DONE), ctx.log);
  });
}

/**
 * The time limit covers the handler and the closing of its dependencies. It is awaited together with them, so that what follows
 * has the async context of the request.
 */
async function respondInTime(ctx: HttpContext, running: PromiseLike<void>, options: ServeOptions): Promise<void> {
  const { outgoing } = ctx;
  const time = new HandlerTime(ctx, options);
  let pending = running;
  const handled = await time.result(running);
  if (handled !== null) {
    const sending = respond(ctx, handled, time);
    if (sending === undefined) return time.end();
    pending = sending;
    const sent = await time.result(sending);
    if (sent !== null) time.end();
    if (sent?.kind === "failed") throw sent.error;
    if (sent !== null) return;
  }
  const isArriving = inFlightOf.of(ctx)?.isArriving === true;
  endEarly(ctx, isArriving ? bodyTimeout() : handlerTimeout(ctx, options.timeoutMs), options);
  await pending.then(ignore, ignore);
  outgoing.reset();
  await closeQuietly(ctx);
}

function ignore(): void {}

/** The client gets its response at once. The handler's signal aborts, and its dependencies stay open for the grace time. */
function endEarly(ctx: HttpContext, error: HttpException, { graceMs }: ServeOptions): void {
  ctx.settle("failure");
  ctx.abort(new DOMException("The request timed out", "TimeoutError"));
  // Anything the handler still writes must not get into this response.
  ctx.renewOutgoing();
  setTimeout(() => inBackground(closeQuietly(ctx), ctx.log), graceMs).unref();
  inBackground(respondToError(ctx, error), ctx.log);
}

function bodyTimeout(): HttpException {
  return new HttpException(408, "The request body did not arrive in time", { code: "REQUEST_TIMEOUT" });
}

function handlerTimeout(ctx: HttpContext, timeoutMs: number): HttpException {
  const error = new ServiceUnavailable(`No response within ${timeoutMs / 1000} s`, { code: "HANDLER_TIMEOUT" });
  logFailure(ctx.services, ctx.exchange, error);
  return error;
}
