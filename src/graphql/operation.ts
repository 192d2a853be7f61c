import type { BaseContext } from "../http/context.ts";
import { GraphContext, type OperationFacts } from "./graph-context.ts";
import { operationContext } from "./operation-context.ts";

/** How an operation stands to its connection. */
export interface OperationOptions extends Partial<OperationFacts> {
  /**
   * Whether the connection is there for this operation alone, as for a single one over HTTP: then the connection's context
   * is its context, and its outcome that of the request. Entries of a batch, operations on a socket and events are not alone.
   *
   * @default false
   */
  readonly isAlone?: boolean;
}

/** An operation that is running. */
export interface Operation {
  /** What graphql gets as its context value. */
  readonly contextValue: GraphContext;
  /** Ends what the operation listens to, before it is closed: a subscription whose client has left. */
  abort(): void;
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
export function openOperation(connection: BaseContext, options: OperationOptions = {}): Operation {
  const own = options.isAlone === true ? null : operationContext(connection);
  const ctx = own?.ctx ?? connection;
  const contextValue = new GraphContext(ctx, {
    operationName: options.operationName ?? null,
    cost: options.cost ?? null,
  });
  return {
    contextValue,
    abort: () => own?.abort(),
    close(outcome) {
      if (own === null) connection.settle(outcome);
      else own.settle(outcome);
      return contextValue.close();
    },
  };
}
