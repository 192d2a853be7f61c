import { withContext } from "../../kernel/context/current-context.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { endLeftOpen, hasOpen } from "../../kernel/leaks/end-left-open.ts";
import type { FieldTrace } from "./field-trace.ts";
import { GraphContext, type OperationFacts } from "./graph-context.ts";
import { operationContext, type SeparateContext } from "./operation-context.ts";

/** How an operation relates to its connection. */
export interface OperationOptions extends Partial<OperationFacts> {
  /**
   * Whether this is the only operation of its connection, as for a single one over HTTP. It then shares the context of the
   * connection, and its outcome is that of the request. Entries of a batch, operations on a socket and events are not alone.
   *
   * @default false
   */
  readonly isAlone?: boolean;
  /** Whether this is a subscription or an event of one. @default false */
  readonly followsEvents?: boolean;
  /** Records how long its fields take. */
  readonly trace?: FieldTrace | null;
}

/** An operation that is running. */
export interface RunningOperation {
  /** The context value for graphql. */
  readonly contextValue: GraphContext;
  /** Ends the subscriptions of the operation to the bus before it is closed, for example when its client disconnects. */
  abort(): void;
  /** Calls a function with the operation's context as the current context. */
  enter<T>(call: () => T): T;
  /** Whether it was aborted or its connection is closed. */
  readonly isOver: boolean;
  /** Calls back when it is aborted or its connection closes. Returns a function that stops watching. */
  watch(giveUp: () => void): () => void;
  /**
   * Sets `ctx.outcome` and closes the dependencies. Those that are still being opened are awaited, and no further ones are
   * opened. Returns the errors of those that failed to close; `undefined` without dependencies. The first outcome is kept.
   */
  close(outcome: "success" | "failure"): undefined | Promise<readonly unknown[]>;
  /** Whether a failure undoes work: a generator dependency was opened, or a transaction around the operation is open. */
  readonly canRollBack: boolean;
}

/**
 * Opens an operation on a connection: one value per dependency, one verdict per gate of the user, one batch per loader.
 * The caller must close it after the execution, also after an error.
 */
export function openOperation(connection: BaseContext, options: OperationOptions = {}): RunningOperation {
  return new OpenOperation(connection, options);
}

/** A class, not an object of closures, because there is one for every event. */
class OpenOperation implements RunningOperation {
  readonly contextValue: GraphContext;
  readonly #connection: BaseContext;
  /** `null` for the only operation of its connection. */
  readonly #separate: SeparateContext | null;

  constructor(connection: BaseContext, options: OperationOptions) {
    const { operationName = null, cost = null, trace = null } = options;
    this.#connection = connection;
    this.#separate = options.isAlone === true ? null : operationContext(connection, options.followsEvents === true);
    this.contextValue = new GraphContext(this.#separate?.ctx ?? connection, { operationName, cost }, trace);
  }

  enter<T>(call: () => T): T {
    // The context of the connection is already the current one.
    return this.#separate === null ? call() : withContext(this.#separate.ctx, call);
  }

  abort(): void {
    this.#separate?.abort();
  }

  get isOver(): boolean {
    return this.#separate?.isOver ?? this.#connection.isAborted;
  }

  watch(giveUp: () => void): () => void {
    return this.#separate?.watch(giveUp) ?? this.#connection.watchAbort(giveUp);
  }

  close(outcome: "success" | "failure"): undefined | Promise<readonly unknown[]> {
    (this.#separate ?? this.#connection).settle(outcome);
    const closing = this.contextValue.close();
    // The only operation of a connection leaves open handles to it: one may be the transaction of an outer middleware.
    return this.#separate === null ? closing : endLeftOpen(this.#separate.ctx, closing);
  }

  get canRollBack(): boolean {
    return this.contextValue.hasGenerators || (this.#separate === null && hasOpen(this.#connection));
  }
}
