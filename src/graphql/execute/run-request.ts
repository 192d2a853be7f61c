import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from "graphql";
import type { HttpContext } from "../../http/context.ts";
import { HttpException, MethodNotAllowed } from "../../http/exceptions.ts";
import type { Documents } from "../documents/documents.ts";
import { type FormattedError, formatError } from "../errors/format-error.ts";
import { toRefusal } from "../errors/to-refusal.ts";
import { type OperationHook, runHooks } from "../hooks/operation-hook.ts";
import type { Limits } from "../limits/limits.ts";
import { OperationOver } from "../operation-over.ts";
import type { RequestParams } from "../transport/request-params.ts";
import { checkCost } from "./check-limits.ts";
import { coerceVariables } from "./coerce-variables.ts";
import type { Prepared, Preparer } from "./prepare.ts";
import { runOperation } from "./run-operation.ts";

/** What every operation of an endpoint has in common. */
export interface Pipeline {
  readonly schema: GraphQLSchema;
  readonly preparer: Preparer;
  readonly limits: Limits;
  readonly documents: Documents;
  readonly hooks: readonly OperationHook[];
  readonly isDebug: boolean;
}

/** How an operation came in. */
export interface Arrival {
  /** Whether the request holds this operation alone; an entry of a batch is not. */
  readonly isAlone: boolean;
  /** Whether it came by GET, which mutations may not. */
  readonly isGet: boolean;
}

/** The answer to one operation: a status of its own when it never ran. */
export interface OperationAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AnswerBody;
  /** The body as JSON. */
  readonly text: string;
}

interface AnswerBody {
  readonly data?: unknown;
  readonly errors?: readonly FormattedError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/**
 * One operation from its parameters to its answer: document, limits, validation, variables, cost, execution, hooks. Every
 * transport comes through here, so that none can forget a step.
 */
export async function runRequest(
  pipeline: Pipeline,
  ctx: HttpContext,
  read: () => RequestParams,
  arrival: Arrival,
): Promise<OperationAnswer> {
  const { clock, log } = ctx.host;
  const started = clock.monotonic();
  const facts: Facts = { operationName: null, prepared: null, cost: null };
  const answer = printed(await attempt(pipeline, ctx, read, arrival, facts), ctx, pipeline.isDebug);

  const errors = answer.body.errors ?? [];
  const durationSeconds = (clock.monotonic() - started) / 1000;
  const isRefused = !("data" in answer.body);
  const { operationName, cost } = facts;
  const result = { data: answer.body.data ?? null, errors, ok: errors.length === 0 };
  runHooks(pipeline.hooks, result, { operationName, cost, started, durationSeconds, isRefused }, log);
  return answer;
}

/** What was found out about an operation, however far it came. */
interface Facts {
  operationName: string | null;
  prepared: Prepared | null;
  cost: number | null;
}

/** What an operation can be called; a request may say anything. */
const NAME = /^[A-Za-z_]\w{0,199}$/;

async function attempt(
  pipeline: Pipeline,
  ctx: HttpContext,
  read: () => RequestParams,
  arrival: Arrival,
  facts: Facts,
): Promise<Omit<OperationAnswer, "text">> {
  try {
    const { schema, preparer, limits, documents } = pipeline;
    const params = read();
    facts.operationName = NAME.test(params.operationName ?? "") ? params.operationName : null;
    const { source, keep } = await documents.find(params, ctx.host.stores.durable);
    const prepared = preparer.prepare(source, params.operationName, {
      refuse: (operation) => {
        facts.operationName = operation.name?.value ?? null;
        checkMethod(operation, arrival);
      },
    });
    facts.prepared = prepared;
    const variables = coerceVariables(schema, prepared.operation, params.variables, (error) => preparer.show(error));
    facts.cost = checkCost(prepared, variables, limits);
    await keep?.();
    const { operationName, cost } = facts;
    const execution = { schema, document: prepared.document, variables: params.variables, operationName, cost };
    const result = await runOperation(ctx, execution, { isAlone: arrival.isAlone });
    // Nobody reads the answer any more: one line in the log says so, not one for each field that was left out.
    if (ctx.signal.aborted) throw new OperationOver();
    return { status: 200, headers: {}, body: bodyOf(result, ctx, pipeline.isDebug, facts) };
  } catch (error) {
    const { status, headers, errors } = toRefusal(error);
    const body = {
      errors: errors.map((entry) => formatError(entry, ctx, pipeline.isDebug)),
      ...extensionsOf(facts, undefined),
    };
    return { status, headers, body };
  }
}

function checkMethod(operation: OperationDefinitionNode, { isGet, isAlone }: Arrival): void {
  if (isGet && operation.operation === OperationTypeNode.MUTATION)
    throw new MethodNotAllowed("A mutation by GET", ["POST"]);
  if (operation.operation !== OperationTypeNode.SUBSCRIPTION) return;
  const hint = isAlone ? "open a socket, or ask with Accept: text/event-stream" : "it cannot be part of a batch";
  throw new HttpException(400, `A subscription answers with a stream: ${hint}`, { code: "SUBSCRIPTION_NEEDS_STREAM" });
}

function bodyOf(result: ExecutionResult, ctx: HttpContext, isDebug: boolean, facts: Facts): AnswerBody {
  const errors = result.errors?.map((error) => formatError(error, ctx, isDebug)) ?? [];
  return {
    data: result.data ?? null,
    ...(errors.length === 0 ? {} : { errors }),
    ...extensionsOf(facts, result.extensions),
  };
}

function extensionsOf(
  { prepared, cost }: Facts,
  given: Readonly<Record<string, unknown>> | undefined,
): Pick<AnswerBody, "extensions"> {
  if (prepared === null || cost === null) return given === undefined ? {} : { extensions: given };
  const { depth, aliases, breadth, fields } = prepared.structure;
  return { extensions: { ...given, cost: { depth, cost, aliases, breadth, fields } } };
}

/** Before the hooks: a result that JSON cannot say, such as a cycle that a scalar gave, is not sent, and not well. */
function printed(answer: Omit<OperationAnswer, "text">, ctx: HttpContext, isDebug: boolean): OperationAnswer {
  try {
    return { ...answer, text: JSON.stringify(answer.body) };
  } catch (cause) {
    const error = new GraphQLError("Unexpected error", {
      originalError: cause instanceof Error ? cause : new Error(String(cause)),
    });
    const body = { data: null, errors: [formatError(error, ctx, isDebug)] };
    return { ...answer, body, text: JSON.stringify(body) };
  }
}
