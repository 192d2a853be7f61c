import { type ExecutionResult, GraphQLError } from "graphql";
import { toError } from "../../core/describe-error.ts";
import { andThen, type MaybePromise, orElse } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { FindingsSoFar } from "../admit/admitted.ts";
import type { ErrorFormat } from "../errors/error-format.ts";
import { formatError } from "../errors/format-error.ts";
import { formatErrors } from "../errors/format-errors.ts";
import type { FormattedError } from "../errors/formatted-error.ts";
import { toGraphRefusal } from "../errors/to-graph-refusal.ts";
import type { Sent } from "../hooks/observed-stream.ts";
import { printData } from "./print-data.ts";

/** The response to one operation; its status is not 200 if the operation was rejected before it ran. */
export interface OperationResponse {
  readonly kind: "response";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ResponseBody;
  /** The body as JSON. */
  readonly text: string;
  /** The position of the event, if its subscription can be resumed. It is also in the extensions. */
  readonly position?: string;
}

export interface ResponseBody extends Sent {
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
  errorFormat: ErrorFormat,
  findings: FindingsSoFar,
  position?: string,
): MaybePromise<OperationResponse> {
  const errors = result.errors === undefined ? NO_ERRORS : formatErrors(result.errors, ctx, errorFormat);
  const extensions = extensionsOf(findings, position);
  const body: { data: unknown; errors?: readonly FormattedError[]; extensions?: Readonly<Record<string, unknown>> } = {
    data: result.data ?? null,
  };
  if (errors.length > 0) body.errors = errors;
  if (extensions !== undefined) body.extensions = extensions;
  return orElse(
    () =>
      andThen(printData(body.data), (data) => {
        const errorsText = errors.length === 0 ? "" : `,"errors":${JSON.stringify(errors)}`;
        const known = position === undefined ? costText(findings) : JSON.stringify(extensions);
        const extensionsText = extensions === undefined ? "" : `,"extensions":${known}`;
        const text = `{"data":${data}${errorsText}${extensionsText}}`;
        const response = respond(200, NO_HEADERS, body, text);
        return position === undefined ? response : { ...response, position };
      }),
    (cause) => unprintable(cause, ctx, errorFormat),
  );
}

function respond(
  status: number,
  headers: OperationResponse["headers"],
  body: ResponseBody,
  text: string,
): OperationResponse {
  return { kind: "response", status, headers, body, text };
}

/** A result that JSON cannot represent, such as a cycle from a scalar. It is found before the hooks run. */
function unprintable(cause: unknown, ctx: BaseContext, errorFormat: ErrorFormat): OperationResponse {
  const error = new GraphQLError("Unexpected error", {
    originalError: toError(cause),
  });
  const body = { data: null, errors: [formatError(error, ctx, errorFormat)] };
  return respond(200, NO_HEADERS, body, JSON.stringify(body));
}

const NO_ERRORS: readonly FormattedError[] = [];
const NO_HEADERS: OperationResponse["headers"] = Object.freeze({});

/** Turns an error that was thrown before execution into a response. */
export function responseToError(
  error: unknown,
  ctx: BaseContext,
  errorFormat: ErrorFormat,
  findings: FindingsSoFar,
): OperationResponse {
  const { status, headers, errors } = toGraphRefusal(error);
  const extensions = extensionsOf(findings);
  const body = {
    errors: formatErrors(errors, ctx, errorFormat),
    ...(extensions === undefined ? {} : { extensions }),
  };
  try {
    return respond(status, headers, body, JSON.stringify(body));
  } catch (cause) {
    return { ...unprintable(cause, ctx, errorFormat), status, headers };
  }
}

function extensionsOf(
  { prepared, cost }: FindingsSoFar,
  position?: string,
): Readonly<Record<string, unknown>> | undefined {
  if (prepared === null || cost === null) return position === undefined ? undefined : { position };
  const { depth, aliases, breadth, fields } = prepared.structure;
  const known = { cost: { depth, cost, aliases, breadth, fields } };
  return position === undefined ? known : { ...known, position };
}

/** The extensions as JSON. */
function costText({ prepared, cost }: FindingsSoFar): string | null {
  return prepared === null || cost === null ? null : prepared.printCost(cost);
}
