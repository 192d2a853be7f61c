import { isPromise } from "../../core/maybe-promise.ts";
import { withContext } from "../context/current-context.ts";
import type { HttpContext } from "../context/http-context.ts";
import { HttpException, ServiceUnavailable } from "../context/http-exception.ts";
import { logFailure } from "../context/render-problem.ts";
import { closeQuietly, respond, transmit } from "./respond.ts";
import type { RunRoute } from "./run-route.ts";

/** How long a handler may take, and how long what it depends on stays open for it after that. */
export interface ServeOptions {
  /** 0 disables the limit. The time in which the body arrives does not count. */
  readonly timeoutMs: number;
  /** Until the body is there; 0 disables the limit. */
  readonly arrivalMs: number;
  readonly graceMs: number;
}

/**
 * One request from its context to its answer, which is sent exactly once, whatever happens.
 *
 * The order: handler, then the dependencies are closed, then the bytes leave. So an answer that says "saved" is sent
 * after the transaction has ended, and one that could not end is a 500. A streamed answer leaves first.
 */
export function serve(ctx: HttpContext, run: RunRoute, options: ServeOptions): void {
  withContext(ctx, () => {
    try {
      const running = run(ctx);
      if (isPromise(running)) void finishLater(ctx, running, options);
      else void finish(ctx);
    } catch (error) {
      void fail(ctx, error);
    }
  });
}

/** The time limit covers the handler and the closing of what it depends on. */
async function finishLater(ctx: HttpContext, running: PromiseLike<void>, options: ServeOptions): Promise<void> {
  const { outgoing } = ctx;
  const time = { isOver: false };
  let timer = options.timeoutMs === 0 ? undefined : setTimeout(giveUp, options.timeoutMs, options.timeoutMs);
  try {
    await running;
    if (!time.isOver) await finish(ctx, time);
  } catch (error) {
    if (!time.isOver) await fail(ctx, error, time);
  } finally {
    clearTimeout(timer);
    if (time.isOver) {
      outgoing.reset();
      await closeQuietly(ctx);
    }
  }

  /** The handler's time begins anew while it waits for the body, which has a limit of its own. */
  function giveUp(elapsedMs: number): void {
    const { timeoutMs, arrivalMs } = options;
    const isArriving = ctx.inFlight?.isArriving === true;
    if (isArriving && (arrivalMs === 0 || elapsedMs < arrivalMs)) {
      const ms = arrivalMs === 0 ? timeoutMs : Math.min(timeoutMs, arrivalMs - elapsedMs);
      timer = setTimeout(giveUp, ms, elapsedMs + ms);
      return;
    }
    time.isOver = true;
    endEarly(ctx, isArriving ? notArrived() : notAnswered(ctx, timeoutMs), options);
  }
}

/** The client gets its response at once, the handler learns so by its signal, and keeps its dependencies for the grace time. */
function endEarly(ctx: HttpContext, error: HttpException, { graceMs }: ServeOptions): void {
  ctx.settle("failure");
  ctx.abort(new DOMException("The request timed out", "TimeoutError"));
  // What the handler still writes must not get into this response.
  ctx.renewOutgoing();
  setTimeout(() => void closeQuietly(ctx), graceMs).unref();
  void respond(ctx, error);
}

function notArrived(): HttpException {
  return new HttpException(408, "The request did not arrive in time", { code: "REQUEST_TIMEOUT" });
}

function notAnswered(ctx: HttpContext, timeoutMs: number): HttpException {
  const error = new ServiceUnavailable(`No response within ${timeoutMs / 1000} s`, { code: "HANDLER_TIMEOUT" });
  logFailure(ctx.services, ctx.exchange, error);
  return error;
}

const ON_TIME = { isOver: false };

async function finishClosing(
  ctx: HttpContext,
  closing: Promise<readonly unknown[]>,
  time: { isOver: boolean },
): Promise<void> {
  const [first, ...others] = await closing;
  for (const error of time.isOver && first !== undefined ? [first, ...others] : others)
    logFailure(ctx.services, ctx.exchange, error);
  if (time.isOver) return;
  if (first === undefined) transmit(ctx);
  else await respond(ctx, first);
}

function finish(ctx: HttpContext, time: { isOver: boolean } = ON_TIME): void | Promise<void> {
  if (ctx.outgoing.body?.kind === "stream") {
    // It may read from the dependencies until its end, and nobody knows before how it goes.
    return transmit(ctx, (isFailed) => {
      ctx.settle(isFailed ? "failure" : "success");
      void closeQuietly(ctx);
    });
  }
  ctx.settle("success");
  const closing = ctx.closeDependencies();
  return closing === undefined ? transmit(ctx) : finishClosing(ctx, closing, time);
}

async function fail(ctx: HttpContext, error: unknown, time: { isOver: boolean } = ON_TIME): Promise<void> {
  ctx.settle("failure");
  await closeQuietly(ctx);
  if (!time.isOver) await respond(ctx, error);
}
