import { AsyncLocalStorage } from "node:async_hooks";
import type { AppServices } from "../../http/context/app-services.ts";
import type { FormattedError } from "../errors/format-error.ts";
import { FieldTrace } from "./field-trace.ts";
import { ObservedStream, type Sent } from "./observed-stream.ts";
import type { OperationAround, OperationEnd, OperationFindings } from "./operation-hook.ts";
import { logHookFailure, type OperationHooks } from "./operation-hooks.ts";

/** Every transport calls this when an operation comes in, once for each of a batch, and ends what it gets. */
export function observe(hooks: OperationHooks, services: Pick<AppServices, "clock" | "log">): Observation {
  return new Observation(hooks, services);
}

/** One operation as the hooks see it: begun when it comes in, ended once, whatever happened. */
export class Observation {
  /** How long its fields take; `null` when no hook asks. */
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

  /** Does the whole work of the operation, inside of the hooks that go around it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const { around } = this.#hooks;
    if (around.length === 0) return work();
    const ended = Promise.withResolvers<OperationEnd>();
    // Whoever does not look at the end need not hear that there was none.
    ended.promise.catch(() => {});
    this.#ended = ended;
    const entered = around.reduceRight<() => Promise<T>>(
      (next, hook) => () => this.#enter(hook, next, ended.promise),
      work,
    )();
    entered.catch(ended.reject);
    return entered;
  }

  /** Ends it: the hooks are called. Only the first call counts. An answer without `data` is one of a refused operation. */
  end(sent: Sent, findings: OperationFindings): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#hooks.isEmpty) return;
    const { clock, log } = this.#services;
    const { operationName, operationType, cost, extensions } = findings;
    const errors = sent.errors ?? [];
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
   * The stream of a subscription, as it is sent: the operation ends with it. Called within `run`, so that every event, and the
   * end, happen inside of what is around the operation and not of what is around the socket's last message.
   */
  follow<T extends { readonly body: Sent }>(
    stream: AsyncGenerator<T, void, void>,
    findings: OperationFindings,
  ): ObservedStream<T> {
    return new ObservedStream(stream, AsyncLocalStorage.snapshot(), this.ending(findings));
  }

  /** Ends a subscription, with the errors that were sent: for a stream of which several are sent. Called within `run`, too. */
  ending(findings: OperationFindings): (errors: readonly FormattedError[]) => void {
    const inside = AsyncLocalStorage.snapshot();
    return (errors) => inside(() => this.end({ data: null, errors }, findings));
  }

  /** A hook that does not run the operation, or fails, is left out. */
  #enter<T>(around: OperationAround, next: () => Promise<T>, ended: Promise<OperationEnd>): Promise<T> {
    const { log } = this.#services;
    let running: Promise<T> | null = null;
    const start = (): Promise<OperationEnd> => {
      running ??= next();
      return ended;
    };
    const finish = async (): Promise<void> => {
      try {
        await around(start);
      } catch (err) {
        logHookFailure(log, err);
      }
    };
    void finish();
    return running ?? (running = next());
  }
}
