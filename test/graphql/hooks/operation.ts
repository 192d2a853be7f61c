import type { OperationContext, OperationResult } from "portico/graphql";

/** An operation as a hook receives it. */
export function operation(known: Partial<OperationContext> = {}): OperationContext {
  const log = new Proxy({}, { get: () => () => {} }) as OperationContext["log"];
  return {
    operationName: null,
    operationType: "query",
    cost: 1,
    extensions: {},
    started: 0,
    durationSeconds: 0,
    isRefused: false,
    log,
    trace: null,
    ...known,
  };
}

export const good: OperationResult = { data: {}, errors: [], ok: true };
