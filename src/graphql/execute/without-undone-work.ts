import {
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  type GraphQLObjectType,
  getOperationAST,
  isNonNullType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from "graphql";
import { RolledBack } from "../operation/rolled-back.ts";
import type { Execution } from "./execution.ts";

/**
 * Removes the root fields of a mutation that was rolled back, so that the response does not report undone work as done. Each of
 * them, and each that was skipped, becomes null, with an error; if one of them is non-null, `data` does. Other operations stay as they are.
 */
export function withoutUndoneWork(result: ExecutionResult, execution: Execution): ExecutionResult {
  const { data, errors = [] } = result;
  const { schema, document, operationName } = execution;
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION || data === null || data === undefined) return result;
  const fields = (schema.getMutationType() as GraphQLObjectType).getFields();
  const nodes = rootNodes(execution, operation.selectionSet);
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

/** The first node of each root field by its name in the response. Validation has made sure that all of them name one field. */
function rootNodes({ document }: Execution, root: SelectionSetNode): ReadonlyMap<string, FieldNode> {
  const nodes = new Map<string, FieldNode>();
  const fragments = new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map(({ name, selectionSet }) => [name.value, selectionSet]),
  );
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const { value } = selection.name;
        visit(fragments.get(value));
        // Its fields are known now, also for the next spread.
        fragments.delete(value);
      } else {
        const key = selection.alias?.value ?? selection.name.value;
        if (!nodes.has(key)) nodes.set(key, selection);
      }
    }
  };
  visit(root);
  return nodes;
}

function rolledBack(key: string, node: FieldNode | undefined): GraphQLError {
  const originalError = new RolledBack();
  return new GraphQLError(originalError.message, { path: [key], originalError, nodes: node ?? null });
}
