import { isPromise } from "../../core/maybe-promise.ts";
import { withContext } from "../context/current-context.ts";
import type { HttpContext } from "../context/http-context.ts";
import { logFailure } from "../context/render-problem.ts";
import { HttpException, ServiceUnavailable } from "../exceptions/http-exception.ts";
import { closeQuietly, DONE, type HandlerResult, respond, respondToError } from "./respond.ts";
import type { RunRoute } from "./run-route.ts";

/** How long a handler may take, and how long its dependencies stay open afterwards. */
export interface ServeOptions {
  /** 0 disables the limit. The time in which the body arrives is not part of it. */
  readonly timeoutMs: number;
  /** The time limit for receiving the body; 0 disables the limit. */
  readonly arrivalMs: number;
  readonly graceMs: number;
}

/** Runs the handler of one request within its time limit, and responds with its result exactly once. */
export function serve(ctx: HttpContext, run: RunRoute, options: ServeOptions): void {
  withContext(ctx, () => {
    const result = runHandler(ctx, run);
    if (isPromise(result)) void respondInTime(ctx, result, options);
    else void respond(ctx, result);
  });
}

function runHandler(ctx: HttpContext, run: RunRoute): HandlerResult | Promise<HandlerResult> {
  try {
    const running = run(ctx);
    return isPromise(running) ? Promise.resolve(running).then(() => DONE, failed) : DONE;
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): HandlerResult {
  return { kind: "failed", error };
}

/** The time limit covers the handler and the closing of its dependencies. */
async function respondInTime(ctx: HttpContext, result: Promise<HandlerResult>, options: ServeOptions): Promise<void> {
  const { outgoing } = ctx;
  const time = { isOver: false };
  let timer = options.timeoutMs === 0 ? undefined : setTimeout(giveUp, options.timeoutMs, options.timeoutMs);
  try {
    const handled = await result;
    if (!time.isOver) await respond(ctx, handled, time);
  } finally {
    clearTimeout(timer);
    if (time.isOver) {
      outgoing.reset();
      await closeQuietly(ctx);
    }
  }

  /** The handler's time starts again while it waits for the body, which has a separate limit. */
  function giveUp(elapsedMs: number): void {
    const { timeoutMs, arrivalMs } = options;
    const isArriving = ctx.inFlight?.isArriving === true;
    if (isArriving && (arrivalMs === 0 || elapsedMs < arrivalMs)) {
      const ms = arrivalMs === 0 ? timeoutMs : Math.min(timeoutMs, arrivalMs - elapsedMs);
      timer = setTimeout(giveUp, ms, elapsedMs + ms);
      return;
    }
    time.isOver = true;
    endEarly(ctx, isArriving ? bodyTimeout() : handlerTimeout(ctx, timeoutMs), options);
  }
}

/** The client gets its response at once. The handler's signal aborts, and its dependencies stay open for the grace time. */
function endEarly(ctx: HttpContext, error: HttpException, { graceMs }: ServeOptions): void {
  ctx.settle("failure");
  ctx.abort(new DOMException("The request timed out", "TimeoutError"));
  // Anything the handler still writes must not get into this response.
  ctx.renewOutgoing();
  setTimeout(() => void closeQuietly(ctx), graceMs).unref();
  void respondToError(ctx, error);
}

function bodyTimeout(): HttpException {
  return new HttpException(408, "The request body did not arrive in time", { code: "REQUEST_TIMEOUT" });
}

function handlerTimeout(ctx: HttpContext, timeoutMs: number): HttpException {
  const error = new ServiceUnavailable(`No response within ${timeoutMs / 1000} s`, { code: "HANDLER_TIMEOUT" });
  logFailure(ctx.services, ctx.exchange, error);
  return error;
}
