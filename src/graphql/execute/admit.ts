import { type OperationDefinitionNode, OperationTypeNode } from "graphql";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { HttpException, MethodNotAllowed } from "../../http/exceptions/http-exception.ts";
import type { FieldTrace } from "../hooks/field-trace.ts";
import type { OperationFindings } from "../hooks/operation-hook.ts";
import type { RequestParams } from "../transport/request-params.ts";
import { checkCost } from "./check-structure.ts";
import { coerceVariables } from "./coerce-variables.ts";
import type { Execution } from "./execution.ts";
import type { Pipeline } from "./pipeline.ts";
import type { Prepared } from "./preparer.ts";

/** How an operation reached the endpoint. */
export interface Arrival {
  /** Whether it is the only operation of its request; `false` for an entry of a batch and for an operation on a socket. */
  readonly isAlone: boolean;
  /** Whether it is one more use of the request's credential: a later entry of a batch, or an operation on a socket. */
  readonly isFurther?: boolean;
  /** Whether it was sent with GET, which mutations must not use. */
  readonly isGet: boolean;
  /** The transport accepts queries and mutations (`"response"`), subscriptions (`"stream"`), or all of them. */
  readonly takes: "response" | "stream" | "either";
  /** Called before a subscription is opened; an error from it rejects the subscription. */
  readonly beforeStream?: (ctx: BaseContext) => Promise<void>;
  /** Called when a query or a mutation starts, with the function that cancels it. */
  readonly onStart?: (abort: () => void) => void;
}

/** The facts about an operation that are known so far, filled in on its way. */
export interface FindingsSoFar extends Writable<OperationFindings> {
  prepared: Prepared | null;
  readonly trace: FieldTrace | null;
}
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** An operation that may run. */
export interface Admitted {
  readonly execution: Execution;
  readonly prepared: Prepared;
  /** The text of its document. */
  readonly source: string;
}

/** A valid operation name: the request may contain any text. */
const NAME = /^[A-Za-z_]\w{0,199}$/;

/** Runs every check that can reject an operation before it is executed: document, limits, validation, variables, cost. */
export function admit(
  pipeline: Pipeline,
  ctx: BaseContext,
  read: () => RequestParams,
  arrival: Arrival,
  findings: FindingsSoFar,
): MaybePromise<Admitted> {
  const { documents, hooks } = pipeline;
  const params = read();
  // A subscription keeps them in memory while it runs, so they are kept only for hooks.
  if (!hooks.isEmpty) findings.extensions = params.extensions;
  const { operationName } = params;
  findings.operationName = operationName !== null && NAME.test(operationName) ? operationName : null;
  return andThen(documents.find(params, ctx), ({ source, keep }) => {
    const admitted = admitDocument(pipeline, source, params, arrival, findings);
    return keep === null ? admitted : keep().then(() => admitted);
  });
}

function admitDocument(
  { schema, preparer, limits }: Pipeline,
  source: string,
  params: RequestParams,
  arrival: Arrival,
  findings: FindingsSoFar,
): Admitted {
  const chosen = preparer.choose(source, params.operationName);
  findings.operationName = chosen.operation.name?.value ?? null;
  findings.operationType = chosen.operation.operation;
  checkMethod(chosen.operation, arrival);
  const prepared = preparer.prepare(chosen);
  findings.prepared = prepared;
  const coerced = coerceVariables(schema, prepared.operation, params.variables, (error) => preparer.show(error));
  findings.cost = prepared.cost?.(coerced?.values ?? NONE) ?? null;
  checkCost(findings.cost, limits);
  const { operationName, cost, trace } = findings;
  const declared = declaredOf(prepared.operation, params.variables);
  const { document, plan } = prepared;
  const mostObjects = limits.objects;
  const execution = { schema, document, plan, mostObjects, variables: declared, coerced, operationName, cost, trace };
  return { execution, prepared, source };
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
