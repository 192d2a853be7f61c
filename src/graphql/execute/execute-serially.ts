import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLError,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from "graphql";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import { type Conditions, collectFields } from "../selection/collect-fields.ts";
import { fragmentRecordOf } from "../selection/fragments-of.ts";
import type { Execution } from "./execution.ts";
import { coerceAsGraphql } from "./plan/coerce-variables.ts";
import type { MayGoOn } from "./plan/run.ts";

/** Executes a document by graphql. */
type Execute = (document: DocumentNode) => MaybePromise<ExecutionResult>;

/**
 * Executes an operation by graphql, and a mutation with several root fields one field at a time: graphql itself runs all of them,
 * also after one that has failed. Those that must not run become null, without an error.
 */
export function executeSerially(
  execution: Execution,
  mayGoOn: MayGoOn,
  execute: Execute,
): MaybePromise<ExecutionResult> {
  const { document } = execution;
  const operation = getOperationAST(document, execution.operationName);
  const fields = operation?.operation === OperationTypeNode.MUTATION ? rootFields(execution, operation) : [];
  if (!operation || fields.length < 2) return execute(document);
  const others = document.definitions.filter((definition) => definition !== operation);
  const data = Object.create(null) as Record<string, unknown>;
  const errors: GraphQLError[] = [];
  let isGoingOn = true;
  const continueFrom = (index: number): MaybePromise<ExecutionResult> => {
    const field = fields[index];
    if (field === undefined) return resultOf(data, errors);
    const [key, nodes] = field;
    if (index > 0 && isGoingOn) isGoingOn = mayGoOn(resultOf(data, errors));
    if (!isGoingOn && nodes[0]?.name.value !== "__typename") {
      data[key] = null;
      return continueFrom(index + 1);
    }
    const selectionSet = { ...operation.selectionSet, selections: nodes };
    const part = { ...document, definitions: [{ ...operation, selectionSet }, ...others] };
    return andThen(execute(part), (result) => {
      errors.push(...(result.errors ?? []));
      if (result.data === undefined) return result;
      if (result.data === null) return resultOf(null, errors);
      data[key] = result.data[key];
      return continueFrom(index + 1);
    });
  };
  return continueFrom(0);
}

function resultOf(data: Record<string, unknown> | null, errors: readonly GraphQLError[]): ExecutionResult {
  return errors.length === 0 ? { data } : { errors, data };
}

/** The root fields by their names in the response, in the order of execution; none if graphql refuses to collect them. */
function rootFields(
  { schema, document, variables = {}, coerced = null }: Execution,
  operation: OperationDefinitionNode,
): readonly (readonly [key: string, nodes: readonly FieldNode[]])[] {
  const type = schema.getMutationType();
  const values = coerced ?? coerceAsGraphql(schema, operation, variables);
  if (!type || "errors" in values) return [];
  const conditions: Conditions = new Map(
    Object.entries(values.values).filter(
      (entry): entry is [string, boolean | null] => typeof entry[1] === "boolean" || entry[1] === null,
    ),
  );
  try {
    return [
      ...collectFields({ schema, fragments: fragmentRecordOf(document), conditions }, type, [operation.selectionSet]),
    ];
  } catch {
    return [];
  }
}
