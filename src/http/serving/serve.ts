import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import { withContext } from "../context/current-context.ts";
import type { HttpContext } from "../context/http-context.ts";
import { logFailure } from "../context/render-problem.ts";
import { HttpException, ServiceUnavailable } from "../exceptions/http-exception.ts";
import { Deadlines } from "./deadlines.ts";
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

const deadlines = new Deadlines();

/** Runs the handler of one request within its time limit, and responds with its result exactly once. */
export function serve(ctx: HttpContext, run: RunRoute, options: ServeOptions): void {
  withContext(ctx, () => {
    let running: MaybePromise<void>;
    try {
      running = run(ctx);
    } catch (error) {
      return void respond(ctx, failed(error));
    }
    if (isPromise(running)) void respondInTime(ctx, running, options);
    else void respond(ctx, DONE);
  });
}

function failed(error: unknown): HandlerResult {
  return { kind: "failed", error };
}

/** The time limit covers the handler and the closing of its dependencies. */
async function respondInTime(ctx: HttpContext, running: Promise<void>, options: ServeOptions): Promise<void> {
  const { outgoing } = ctx;
  const { timeoutMs, arrivalMs } = options;
  const time = { isOver: false };
  let elapsedMs = timeoutMs;
  let deadline = timeoutMs === 0 ? null : deadlines.start(timeoutMs, giveUp);
  try {
    const handled = await Promise.resolve(running).then(isDone, failed);
    if (!time.isOver) await respond(ctx, handled, time);
  } finally {
    deadline?.cancel();
    if (time.isOver) {
      outgoing.reset();
      await closeQuietly(ctx);
    }
  }

  /** The handler's time starts again while it waits for the body, which has a separate limit. */
  function giveUp(): void {
    const isArriving = ctx.inFlight?.isArriving === true;
    if (isArriving && (arrivalMs === 0 || elapsedMs < arrivalMs)) {
      const ms = arrivalMs === 0 ? timeoutMs : Math.min(timeoutMs, arrivalMs - elapsedMs);
      elapsedMs += ms;
      deadline = deadlines.start(ms, giveUp);
      return;
    }
    time.isOver = true;
    endEarly(ctx, isArriving ? bodyTimeout() : handlerTimeout(ctx, timeoutMs), options);
  }
}

function isDone(): HandlerResult {
  return DONE;
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
