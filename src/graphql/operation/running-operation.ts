import { withContext } from "../../http/context/current-context.ts";
import { endLeftOpen } from "../../http/context/end-left-open.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import type { FieldTrace } from "../hooks/field-trace.ts";
import { GraphContext, type OperationFacts } from "./graph-context.ts";
import { type OwnContext, ownContext, watchSignal } from "./own-context.ts";

/** How an operation stands to its connection. */
export interface OperationOptions extends Partial<OperationFacts> {
  /**
   * Whether the connection is there for this operation alone, as for a single one over HTTP: then the connection's context
   * is its context, and its outcome that of the request. Entries of a batch, operations on a socket and events are not alone.
   *
   * @default false
   */
  readonly isAlone?: boolean;
  /** Times its fields. */
  readonly trace?: FieldTrace | null;
}

/** An operation that is running. */
export interface RunningOperation {
  /** What graphql gets as its context value. */
  readonly contextValue: GraphContext;
  /** Ends what the operation listens to, before it is closed: a subscription whose client has left. */
  abort(): void;
  /** Calls with the operation's context as the current one. */
  enter<T>(call: () => T): T;
  /** Whether it was aborted, or its connection is gone. */
  readonly isOver: boolean;
  /** Calls back when it is aborted, or its connection is gone; gives what ends that. */
  watch(giveUp: () => void): () => void;
  /**
   * Tells the dependencies how it went (`ctx.outcome`) and closes them: those still being opened are waited for, none is
   * opened any more. `undefined` when there are none; else the errors of those that failed to close. The first outcome counts.
   */
  close(outcome: "success" | "failure"): undefined | Promise<readonly unknown[]>;
}

/**
 * Opens an operation on a connection: one value per dependency, one verdict per gate of the user, one batch per loader.
 * Whoever executes opens it before and closes it after, whatever happened.
 */
export function openOperation(connection: BaseContext, options: OperationOptions = {}): RunningOperation {
  return new OpenOperation(connection, options);
}

/** A class, not an object of functions: there is one for every event. */
class OpenOperation implements RunningOperation {
  readonly contextValue: GraphContext;
  readonly #connection: BaseContext;
  /** `null` for one that is alone on its connection. */
  readonly #own: OwnContext | null;

  constructor(connection: BaseContext, options: OperationOptions) {
    const { operationName = null, cost = null, trace = null } = options;
    this.#connection = connection;
    this.#own = options.isAlone === true ? null : ownContext(connection);
    this.contextValue = new GraphContext(this.#own?.ctx ?? connection, { operationName, cost }, trace);
  }

  enter<T>(call: () => T): T {
    // Alone, it is the current one already.
    return this.#own === null ? call() : withContext(this.#own.ctx, call);
  }

  abort(): void {
    this.#own?.abort();
  }

  get isOver(): boolean {
    return this.#own?.isOver ?? this.#connection.signal.aborted;
  }

  watch(giveUp: () => void): () => void {
    return this.#own?.watch(giveUp) ?? watchSignal(this.#connection.signal, giveUp);
  }

  close(outcome: "success" | "failure"): undefined | Promise<readonly unknown[]> {
    (this.#own ?? this.#connection).settle(outcome);
    const closing = this.contextValue.close();
    // Alone, it leaves to its connection what is open: that may be the transaction of a middleware around it.
    return this.#own === null ? closing : endLeftOpen(this.#own.ctx, closing);
  }
}
