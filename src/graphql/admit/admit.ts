import { type GraphQLSchema, type OperationDefinitionNode, OperationTypeNode } from "graphql";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import { workTurns } from "../../core/work/event-loop-turns.ts";
import { BadRequest, HttpException, MethodNotAllowed } from "../../kernel/exceptions/http-exception.ts";
import { keyInExtensions } from "../../kernel/idempotency/key-in-header.ts";
import type { ResolvedDocument } from "../documents/documents.ts";
import { coerceVariables } from "../execute/plan/coerce-variables.ts";
import type { Limits } from "../limits/limits.ts";
import type { RequestParams } from "../request/request-params.ts";
import type { Admitted, Arrival, FindingsSoFar } from "./admitted.ts";
import { checkCost } from "./check-structure.ts";
import type { Prepared } from "./prepare-operation.ts";
import type { Preparer } from "./preparer.ts";

/** The parts of an endpoint that admit its operations. */
export interface Admission {
  readonly schema: GraphQLSchema;
  readonly preparer: Preparer;
  readonly limits: Limits;
}

/** Runs every check that can reject an operation whose document was found: limits, validation, variables, cost. */
export function admit(
  admission: Admission,
  { source, keep }: ResolvedDocument,
  params: RequestParams,
  arrival: Arrival,
  findings: FindingsSoFar,
): MaybePromise<Admitted> {
  return andThen(admitDocument(admission, source, params, arrival, findings), (admitted) =>
    keep === null ? admitted : keep().then(() => admitted),
  );
}

/** Each of its steps takes a turn, because none of them can pause: the limits keep each within a slice. */
function admitDocument(
  admission: Admission,
  source: string,
  params: RequestParams,
  arrival: Arrival,
  findings: FindingsSoFar,
): MaybePromise<Admitted> {
  const { preparer } = admission;
  const chosen = preparer.choose(source, params.operationName);
  findings.operationName = chosen.operation.name?.value ?? null;
  findings.operationType = chosen.operation.operation;
  checkMethod(chosen.operation, arrival);
  const prepare = (): MaybePromise<Admitted> => {
    const prepared = preparer.prepare(chosen);
    findings.prepared = prepared;
    return andThen(workTurns.take(), () => admitVariables(admission, source, prepared, params, findings));
  };
  return andThen(workTurns.take(), prepare);
}

function admitVariables(
  { schema, preparer, limits }: Admission,
  source: string,
  prepared: Prepared,
  params: RequestParams,
  findings: FindingsSoFar,
): Admitted {
  const coerced = coerceVariables(schema, prepared.operation, params.variables, limits.values, (error) =>
    preparer.show(error),
  );
  findings.cost = prepared.cost?.(coerced?.values ?? NONE) ?? null;
  checkCost(findings.cost, limits);
  const { operationName, cost, trace } = findings;
  const declared = declaredOf(prepared.operation, params.variables);
  const { document, plan } = prepared;
  const mostObjects = limits.objects;
  const unshown = { objects: 0 };
  const facts = { operationName, cost, trace, unshown };
  const execution = { schema, document, plan, mostObjects, variables: declared, coerced, ...facts };
  const isMutation = prepared.operation.operation === OperationTypeNode.MUTATION;
  const key = isMutation ? keyInExtensions(params.extensions) : null;
  return { execution, prepared, source, key, position: positionIn(params.extensions) };
}

function positionIn({ position }: RequestParams["extensions"]): string | undefined {
  if (position === undefined || position === null) return undefined;
  if (typeof position === "string") return position;
  throw new BadRequest("extensions.position must be a string");
}

const NONE: RequestParams["variables"] = Object.freeze({});

/** Keeps the declared variables only: a subscription would hold all the others in memory while it runs. */
function declaredOf(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: RequestParams["variables"],
): RequestParams["variables"] {
  if (variableDefinitions.length === 0) return NONE;
  const names = variableDefinitions
    .map(({ variable }) => variable.name.value)
    .filter((name) => Object.hasOwn(given, name));
  return Object.fromEntries(names.map((name) => [name, given[name]]));
}

function checkMethod({ operation }: OperationDefinitionNode, { isGet, isAlone, takes }: Arrival): void {
  if (isGet && operation === OperationTypeNode.MUTATION)
    throw new MethodNotAllowed("Sending a mutation with GET", ["POST"]);
  if (operation === OperationTypeNode.SUBSCRIPTION) {
    if (takes !== "response") return;
    const message = isAlone
      ? "A subscription needs a stream. Open a WebSocket, or send Accept: text/event-stream."
      : "A subscription cannot be part of a batch";
    throw new HttpException(400, message, { code: "SUBSCRIPTION_NEEDS_STREAM" });
  }
  if (takes === "stream")
    throw new HttpException(400, `This WebSocket accepts only subscriptions. Send the ${operation} over HTTP.`, {
      code: "OPERATION_NEEDS_HTTP",
    });
}
