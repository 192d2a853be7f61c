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
  const errors = result.errors === undefined ? NO_ERRORS : formatErrors(result.errors, ctx, isDebug);
  const extensions = extensionsOf(findings);
  const body: { data: unknown; errors?: readonly FormattedError[]; extensions?: Readonly<Record<string, unknown>> } = {
    data: result.data ?? null,
  };
  if (errors.length > 0) body.errors = errors;
  if (extensions !== undefined) body.extensions = extensions;
  return printed(200, NO_HEADERS, body, ctx, isDebug, costText(findings));
}

const NO_ERRORS: readonly FormattedError[] = [];
const NO_HEADERS: OperationResponse["headers"] = Object.freeze({});

/** Turns an error that was thrown before execution into a response. */
export function responseToError(
  error: unknown,
  ctx: BaseContext,
  isDebug: boolean,
  findings: FindingsSoFar,
): OperationResponse {
  const { status, headers, errors } = toGraphRefusal(error);
  const extensions = extensionsOf(findings);
  const body = {
    errors: formatErrors(errors, ctx, isDebug),
    ...(extensions === undefined ? {} : { extensions }),
  };
  return printed(status, headers, body, ctx, isDebug, null);
}

function extensionsOf({ prepared, cost }: FindingsSoFar): Readonly<Record<string, unknown>> | undefined {
  if (prepared === null || cost === null) return undefined;
  const { depth, aliases, breadth, fields } = prepared.structure;
  return { cost: { depth, cost, aliases, breadth, fields } };
}

/** The extensions as JSON. */
function costText({ prepared, cost }: FindingsSoFar): string | null {
  return prepared === null || cost === null ? null : prepared.printCost(cost);
}

/** Serializes before the hooks run: a result that JSON cannot represent, such as a cycle from a scalar, becomes an error. */
function printed(
  status: number,
  headers: OperationResponse["headers"],
  body: ResponseBody,
  ctx: BaseContext,
  isDebug: boolean,
  extensionsText: string | null,
): OperationResponse {
  try {
    const isSimple = extensionsText !== null && body.errors === undefined;
    const text = isSimple
      ? `{"data":${JSON.stringify(body.data)},"extensions":${extensionsText}}`
      : JSON.stringify(body);
    return { kind: "response", status, headers, body, text };
  } catch (cause) {
    const error = new GraphQLError("Unexpected error", {
      originalError: cause instanceof Error ? cause : new Error(String(cause)),
    });
    const instead = { data: null, errors: [formatError(error, ctx, isDebug)] };
    return { kind: "response", status, headers, body: instead, text: JSON.stringify(instead) };
  }
}
