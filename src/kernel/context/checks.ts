import { isProduction } from "../../core/env.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { NoticedPromise } from "../../core/work/noticed-promise.ts";
import { resolvingField } from "../hooks/current-field.ts";

/** Where a check was made. */
interface Origin {
  /** The call, as it should have been written after `await`. */
  readonly call: string;
  /** The field whose resolver made it, if it is known. */
  readonly field: string | null;
  /** The line that made it; `null` in production, where it is not recorded. */
  readonly stack: string | null;
}

/**
 * The checks of one request or operation that nothing has awaited yet. A check that is still here when the handler has ended was
 * forgotten: the code went on as if access had been allowed.
 */
export class Checks {
  readonly #unawaited = new Map<NoticedPromise<unknown>, Origin>();

  /** Makes a check. It is decided synchronously where the gate is, and the promise holds the result. */
  make<T>(call: string, decide: () => MaybePromise<T>): Promise<T> {
    const check = NoticedPromise.of(decide, (taken) => this.#unawaited.delete(taken));
    this.#unawaited.set(check, { call, field: resolvingField(), stack: stackHere() });
    return check;
  }

  /** Returns the error for a forgotten check, and forgets all of them; `null` if every check was awaited. */
  take(place: string): CheckNotAwaited | null {
    const [origin] = this.#unawaited.values();
    if (origin === undefined) return null;
    this.#unawaited.clear();
    return new CheckNotAwaited(origin, place);
  }
}

/** The handler did not wait for a check, so nothing that it returned may be sent. */
class CheckNotAwaited extends PorticoError {
  override readonly name: string = "CheckNotAwaited";

  constructor({ call, field, stack }: Origin, place: string) {
    super(
      "CHECK_NOT_AWAITED",
      `${field === null ? place : `the field ${field} (${place})`} did not wait for a check, so nothing was sent: write await ${call}`,
    );
    if (stack !== null) this.stack = stack.replace(/^Error/, `${this.name}: ${this.message}`);
  }
}

/** The stack of the code that makes a check. */
function stackHere(): string | null {
  if (isProduction()) return null;
  const holder = { stack: "" };
  Error.captureStackTrace(holder, stackHere);
  return holder.stack;
}
