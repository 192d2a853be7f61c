import { AsyncLocalStorage } from "node:async_hooks";
import type { Callable } from "../../dependencies/depend.ts";
import type { BaseContext } from "../context/http-context.ts";
import { HttpException } from "../exceptions/http-exception.ts";
import type { Idempotent } from "./idempotent.ts";
import type { KeepingTransaction, KeyPlace } from "./response-store.ts";

const attempts = new AsyncLocalStorage<Attempt>();

/**
 * One attempt to do the work of a request with an idempotency key. Its transaction takes the key when it begins, and stores the
 * response before it commits. `result` is the stored response, or `null` if the work was not committed.
 */
export class Attempt {
  readonly result: Promise<Uint8Array | null>;
  /** Returns the response to store, sealed. Set when the work is done. */
  response: (() => Uint8Array) | null = null;
  readonly #ctx: BaseContext;
  readonly #idempotent: Idempotent;
  readonly #place: KeyPlace;
  readonly #settle: (result: Uint8Array | null) => void;
  #state: "new" | "claiming" | "taken" | "claimed" = "new";

  constructor(ctx: BaseContext, idempotent: Idempotent, place: KeyPlace) {
    const { promise, resolve } = Promise.withResolvers<Uint8Array | null>();
    this.result = promise;
    this.#settle = resolve;
    this.#ctx = ctx;
    this.#idempotent = idempotent;
    this.#place = place;
  }

  /** The attempt that an opening transaction belongs to. A request that the work sends to the application is not part of it. */
  static of(ctx: BaseContext, opener: Callable): Attempt | null {
    const attempt = attempts.getStore();
    if (attempt === undefined || attempt.#state !== "new") return null;
    return attempt.#idempotent.opener === opener && attempt.#ctx.exchange === ctx.exchange ? attempt : null;
  }

  /** Whether another transaction has the key, so that the work was not begun. */
  get isTaken(): boolean {
    return this.#state === "taken";
  }

  /** Whether its transaction is responsible for settling it. */
  get isClaimed(): boolean {
    return this.#state === "claimed";
  }

  /** Does the work, in which the transaction is opened. */
  run<T>(work: () => T): T {
    return attempts.run(this, work);
  }

  settle(result: Uint8Array | null): void {
    this.#settle(result);
  }

  /** Takes the key as the first statement of the transaction. Throws 409 if another one has it. */
  async claim(trx: KeepingTransaction): Promise<void> {
    const { store, keepMs } = this.#idempotent;
    this.#state = "claiming";
    const isOurs = await store.claim(trx, this.#place, keepMs);
    this.#state = isOurs ? "claimed" : "taken";
    if (!isOurs) throw inProgress();
  }

  /** Ends the transaction, and stores the response before its commit. */
  async end(trx: KeepingTransaction, outcome: "pending" | "success" | "failure"): Promise<void> {
    let result: Uint8Array | null = null;
    try {
      if (!this.isClaimed || outcome !== "success") return await trx.end(outcome);
      const sealed = await this.#keep(trx);
      await trx.end("success");
      result = sealed;
    } finally {
      if (this.isClaimed) this.#settle(result);
    }
  }

  async #keep(trx: KeepingTransaction): Promise<Uint8Array> {
    try {
      if (this.response === null) throw new Error("the work of an idempotency key ended without a response");
      const sealed = this.response();
      await this.#idempotent.store.keep(trx, this.#place, sealed);
      return sealed;
    } catch (error) {
      await trx.end("failure");
      throw error;
    }
  }
}

/** 409 while another request with the key is running. */
export function inProgress(): HttpException {
  return new HttpException(409, "Another request with this idempotency key is in progress: try again", {
    code: "REQUEST_IN_PROGRESS",
    headers: { "retry-after": "1" },
  });
}
