import type { HttpContext } from "../../kernel/context/http-context.ts";
import { inFlightOf } from "../../kernel/load/in-flight.ts";
import { type Deadline, Deadlines } from "./deadlines.ts";
import { DONE, failedWith, type HandlerResult } from "./respond.ts";

/** How long a handler may take. */
export interface HandlerLimits {
  /** 0 disables the limit. The time in which the body arrives is not part of it. */
  readonly timeoutMs: number;
  /** The time limit for receiving the body; 0 disables the limit. */
  readonly arrivalMs: number;
}

const deadlines = new Deadlines();

/** The time that one request has. It starts with its creation. */
export class HandlerTime {
  readonly #ctx: HttpContext;
  readonly #limits: HandlerLimits;
  #deadline: Deadline | null;
  #elapsedMs: number;
  #isOver = false;
  #resume: (result: null) => void = ignore;

  constructor(ctx: HttpContext, limits: HandlerLimits) {
    const { timeoutMs } = limits;
    this.#ctx = ctx;
    this.#limits = limits;
    this.#elapsedMs = timeoutMs;
    this.#deadline = timeoutMs === 0 ? null : deadlines.start(timeoutMs, () => this.#pass());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves with the result of the work, or with `null` if the time limit passes first. */
  result(work: PromiseLike<void>): Promise<HandlerResult | null> {
    return new Promise((resolve) => {
      this.#resume = resolve;
      work.then(
        () => resolve(DONE),
        (error: unknown) => resolve(failedWith(error)),
      );
    });
  }

  /** The work has ended in time. */
  end(): void {
    this.#deadline?.cancel();
  }

  /** The handler's time starts again while it waits for the body, which has a separate limit. */
  #pass(): void {
    const { timeoutMs, arrivalMs } = this.#limits;
    const isArriving = inFlightOf.of(this.#ctx)?.isArriving === true;
    if (isArriving && (arrivalMs === 0 || this.#elapsedMs < arrivalMs)) {
      const ms = arrivalMs === 0 ? timeoutMs : Math.min(timeoutMs, arrivalMs - this.#elapsedMs);
      this.#elapsedMs += ms;
      this.#deadline = deadlines.start(ms, () => this.#pass());
      return;
    }
    this.#isOver = true;
    this.#resume(null);
  }
}

function ignore(): void {}
