import { type ExecutionResult, GraphQLError } from "graphql";
import type { BaseContext } from "../../http/context/http-context.ts";
import { type FormattedError, formatError } from "../errors/format-error.ts";
import { formatErrors } from "../errors/format-errors.ts";
import { toGraphRefusal } from "../errors/to-graph-refusal.ts";
import type { FindingsSoFar } from "./admit.ts";

/** The response to one operation; its status is not 200 if the operation was rejected before it ran. */
export interface OperationResponse {
  readonly kind: "response";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ResponseBody;
  /** The body as JSON. */
  readonly text: string;
}

export interface ResponseBody {
  readonly data?: unknown;
  readonly errors?: readonly FormattedError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Whether the operation was rejected before it ran. */
export function isRefused({ body }: Pick<OperationResponse, "body">): boolean {
  return !("data" in body);
}

/** Turns the result of an execution into a response. */
export function responseTo(
  result: ExecutionResult,
  ctx: BaseContext,
  isDebug: boolean,
  findings: FindingsSoFar,
): OperationResponse {
  const errors = formatErrors(result.errors ?? [], ctx, isDebug);
  const body = {
    data: result.data ?? null,
    ...(errors.length === 0 ? {} : { errors }),
    ...extensionsOf(findings, result.extensions),
  };
  return printed({ kind: "response", status: 200, headers: {}, body }, ctx, isDebug);
}

/** Turns an error that was thrown before execution into a response. */
export function responseToError(
  error: unknown,
  ctx: BaseContext,
  isDebug: boolean,
  findings: FindingsSoFar,
): OperationResponse {
  const { status, headers, errors } = toGraphRefusal(error);
  const body = {
    errors: formatErrors(errors, ctx, isDebug),
    ...extensionsOf(findings, undefined),
  };
  return printed({ kind: "response", status, headers, body }, ctx, isDebug);
}

function extensionsOf(
  { prepared, cost }: FindingsSoFar,
  given: Readonly<Record<string, unknown>> | undefined,
): Pick<ResponseBody, "extensions"> {
  if (prepared === null || cost === null) return given === undefined ? {} : { extensions: given };
  const { depth, aliases, breadth, fields } = prepared.structure;
  return { extensions: { ...given, cost: { depth, cost, aliases, breadth, fields } } };
}

/** Serializes before the hooks run: a result that JSON cannot represent, such as a cycle from a scalar, becomes an error. */
function printed(response: Omit<OperationResponse, "text">, ctx: BaseContext, isDebug: boolean): OperationResponse {
  try {
    return { ...response, text: JSON.stringify(response.body) };
  } catch (cause) {
    const error = new GraphQLError("Unexpected error", {
      originalError: cause instanceof Error ? cause : new Error(String(cause)),
    });
    const body = { data: null, errors: [formatError(error, ctx, isDebug)] };
    return { ...response, body, text: JSON.stringify(body) };
  }
}
