import { type ExecutionResult, GraphQLError } from "graphql";
import type { BaseContext } from "../../http/context/http-context.ts";
import { type FormattedError, formatError } from "../errors/format-error.ts";
import { formatErrors } from "../errors/format-errors.ts";
import { toGraphRefusal } from "../errors/to-graph-refusal.ts";
import type { FindingsSoFar } from "./admit.ts";

/** The answer to one operation: a status of its own when it never ran. */
export interface OperationAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AnswerBody;
  /** The body as JSON. */
  readonly text: string;
}

export interface AnswerBody {
  readonly data?: unknown;
  readonly errors?: readonly FormattedError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Whether the operation never ran. */
export function isRefused({ body }: Pick<OperationAnswer, "body">): boolean {
  return !("data" in body);
}

/** What an execution gave, as an answer. */
export function answerTo(
  result: ExecutionResult,
  ctx: BaseContext,
  isDebug: boolean,
  findings: FindingsSoFar,
): OperationAnswer {
  const errors = formatErrors(result.errors ?? [], ctx, isDebug);
  const body = {
    data: result.data ?? null,
    ...(errors.length === 0 ? {} : { errors }),
    ...extensionsOf(findings, result.extensions),
  };
  return printed({ status: 200, headers: {}, body }, ctx, isDebug);
}

/** What was thrown before it ran, as an answer. */
export function answerToError(
  error: unknown,
  ctx: BaseContext,
  isDebug: boolean,
  findings: FindingsSoFar,
): OperationAnswer {
  const { status, headers, errors } = toGraphRefusal(error);
  const body = {
    errors: formatErrors(errors, ctx, isDebug),
    ...extensionsOf(findings, undefined),
  };
  return printed({ status, headers, body }, ctx, isDebug);
}

function extensionsOf(
  { prepared, cost }: FindingsSoFar,
  given: Readonly<Record<string, unknown>> | undefined,
): Pick<AnswerBody, "extensions"> {
  if (prepared === null || cost === null) return given === undefined ? {} : { extensions: given };
  const { depth, aliases, breadth, fields } = prepared.structure;
  return { extensions: { ...given, cost: { depth, cost, aliases, breadth, fields } } };
}

/** Before the hooks: a result that JSON cannot say, such as a cycle that a scalar gave, is not sent, and not well. */
function printed(answer: Omit<OperationAnswer, "text">, ctx: BaseContext, isDebug: boolean): OperationAnswer {
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
