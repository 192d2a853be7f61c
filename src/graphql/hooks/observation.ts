import { AsyncLocalStorage } from "node:async_hooks";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import { runInside } from "../../kernel/hooks/called-hook.ts";
import { settledError } from "../errors/error-format.ts";
import type { FormattedError } from "../errors/formatted-error.ts";
import { FieldTrace } from "../operation/field-trace.ts";
import { ObservedStream, type Sent } from "./observed-stream.ts";
import type { OperationEnd, OperationFindings } from "./operation-hook.ts";
import { HOOK_NAME, type OperationHooks } from "./operation-hooks.ts";

/** Called once per operation when it arrives. The caller must end the observation. */
export function observe(hooks: OperationHooks, services: Pick<AppServices, "clock" | "log">): Observation {
  return new Observation(hooks, services);
}

/** One operation as the hooks see it. It starts when the operation arrives and ends exactly once. */
export class Observation {
  /** How long its fields take; `null` if no hook needs it. */
  readonly trace: FieldTrace | null;
  readonly #hooks: OperationHooks;
  readonly #services: Pick<AppServices, "clock" | "log">;
  readonly #started: number;
  #ended: PromiseWithResolvers<OperationEnd> | null = null;
  #isOver = false;

  constructor(hooks: OperationHooks, services: Pick<AppServices, "clock" | "log">) {
    this.#hooks = hooks;
    this.#services = services;
    this.#started = services.clock.monotonic();
    this.trace = hooks.isTracing ? new FieldTrace(services.clock) : null;
  }

  /** Runs the operation inside its `around` hooks. */
  run<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    const { around } = this.#hooks;
    if (around.length === 0) return work();
    const ended = Promise.withResolvers<OperationEnd>();
    // A hook that does not await the end must not cause an unhandled rejection.
    ended.promise.catch(() => {});
    this.#ended = ended;
    const { log } = this.#services;
    const entered = runInside(around, async () => work(), { ended: ended.promise, log, name: HOOK_NAME });
    entered.catch(ended.reject);
    return entered;
  }

  /** Calls the hooks, only the first time. A response without `data` is that of a rejected operation. */
  end(sent: Sent, findings: OperationFindings): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#hooks.isEmpty) return;
    const { clock, log } = this.#services;
    const { operationName, operationType, cost, extensions } = findings;
    const errors = (sent.errors ?? []).map(settledError);
    const end: OperationEnd = {
      result: { data: sent.data ?? null, errors, ok: errors.length === 0 },
      context: {
        operationName,
        operationType,
        cost,
        extensions,
        started: this.#started,
        durationSeconds: (clock.monotonic() - this.#started) / 1000,
        isRefused: !("data" in sent),
        log,
        trace: this.trace,
      },
    };
    this.#hooks.run(end);
    this.#ended?.resolve(end);
  }

  /**
   * Follows the stream of a subscription, and ends the operation with it. Must be called within `run`, so that every event and
   * the end have the async context of the operation and not that of the socket's last message.
   */
  follow<T extends { readonly body: Sent }>(
    stream: AsyncGenerator<T, void, void>,
    findings: OperationFindings,
  ): ObservedStream<T> {
    return new ObservedStream(stream, AsyncLocalStorage.snapshot(), this.ending(findings));
  }

  /** Returns a function that ends a shared subscription with the errors that were sent. Must be called within `run`. */
  ending(findings: OperationFindings): (errors: readonly FormattedError[]) => void {
    const inside = AsyncLocalStorage.snapshot();
    return (errors) => inside(() => this.end({ data: null, errors }, findings));
  }
}
