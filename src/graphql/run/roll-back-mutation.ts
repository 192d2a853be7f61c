import {
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  type GraphQLObjectType,
  getOperationAST,
  isNonNullType,
  OperationTypeNode,
} from "graphql";
import type { Execution } from "../execute/execution.ts";
import { RolledBack } from "../operation/rolled-back.ts";
import { rootNodes } from "../selection/root-nodes.ts";

/**
 * Removes the root fields of a mutation that was rolled back, so that the response does not report undone work as done. Each of
 * them, and each that was skipped, becomes null, with an error; if one of them is non-null, `data` does. Other operations stay as they are.
 */
export function rollBackMutation(result: ExecutionResult, execution: Execution): ExecutionResult {
  const { data, errors = [] } = result;
  const { schema, document, operationName } = execution;
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION || data === null || data === undefined) return result;
  const fields = (schema.getMutationType() as GraphQLObjectType).getFields();
  const nodes = rootNodes(document, operation);
  const failed = new Set(errors.map(({ path }) => path?.[0]));
  const nameOf = (key: string): string => nodes.get(key)?.name.value ?? "";
  const undone = Object.keys(data).filter((key) => {
    const isWork = Object.hasOwn(fields, nameOf(key));
    // A null without an error is the result of a field that succeeded.
    return isWork && (data[key] !== null || !failed.has(key));
  });
  const isUndone = new Set(undone);
  const isLost = undone.some((key) => isNonNullType(fields[nameOf(key)]?.type));
  return {
    ...result,
    data: isLost
      ? null
      : Object.fromEntries(Object.entries(data).map(([key, value]) => [key, isUndone.has(key) ? null : value])),
    errors: [...errors, ...undone.map((key) => rolledBack(key, nodes.get(key)))],
  };
}

function rolledBack(key: string, node: FieldNode | undefined): GraphQLError {
  const originalError = new RolledBack();
  return new GraphQLError(originalError.message, { path: [key], originalError, nodes: node ?? null });
}
