import type { GraphQLError } from "graphql";
import { correlationId } from "../../core/correlation-id.ts";
import { cut } from "../../core/cut.ts";
import { PorticoError } from "../../core/error.ts";
import type { BaseContext } from "../../http/context.ts";
import { HttpException } from "../../http/exceptions.ts";
import { logFailure, logRefusal } from "../../http/problem.ts";
import { GraphQLDenied } from "../language/denied.ts";

/** An error as it goes out. */
export interface FormattedError {
  readonly message: string;
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string; readonly correlationId: string };
}

const MASKED = "Unexpected error";

/**
 * Formats an error and writes the one log line that its correlation id is found in. The text of an error that is meant for
 * clients is sent: graphql's own, a `GraphQLError` of a resolver, an HTTP exception. Any other is masked.
 */
export function formatError(error: GraphQLError, ctx: BaseContext, isDebug: boolean): FormattedError {
  const id = correlationId();
  const cause = rootCause(error);
  const isShown = isDebug || isMeantForClients(error, cause);
  const code = isShown ? codeOf(error, cause) : "INTERNAL_SERVER_ERROR";
  const { locations, path } = error;
  log(
    ctx,
    error,
    cause,
    { correlation_id: id, code, ...(path === undefined ? {} : { field: path.join(".") }) },
    isShown && !isDebug,
  );
  return {
    message: isShown ? shown(error, cause) : MASKED,
    ...(locations === undefined ? {} : { locations: locations.map(({ line, column }) => ({ line, column })) }),
    ...(path === undefined ? {} : { path }),
    extensions: { ...(isShown ? safeExtensions(error, cause) : {}), code, correlationId: id },
  };
}

/** What a resolver threw, below what graphql wrapped around it. */
function rootCause(error: GraphQLError): unknown {
  let cause: unknown = error;
  while (isGraphQLError(cause) && cause.originalError !== undefined) cause = cause.originalError;
  return cause;
}

/** By a brand and not by `instanceof`: a resolver may throw the error of another copy of graphql. */
function isGraphQLError(value: unknown): value is GraphQLError {
  return value instanceof Error && Object.prototype.toString.call(value) === "[object GraphQLError]";
}

function isMeantForClients(error: GraphQLError, cause: unknown): boolean {
  if (cause instanceof PorticoError) return cause instanceof HttpException || cause.status < 500;
  return isGraphQLError(cause) && !isMisfit(error, cause);
}

/** graphql says what did not fit the type of a field: a value of the application's own. */
function isMisfit(error: GraphQLError, cause: GraphQLError): boolean {
  return error.path !== undefined && cause.extensions["code"] === undefined && MISFIT.test(cause.message);
}

// The sentences of graphql's executor and of its scalars, in both majors.
const MISFIT =
  / cannot represent |^Expected `.*`.*returned: |^Expected Iterable, |^Expected value of type "|^Abstract type "|^Runtime Object type "/;

function codeOf(error: GraphQLError, cause: unknown): string {
  const given =
    error.extensions["code"] ?? (isGraphQLError(cause) ? cause.extensions["code"] : (cause as PorticoError).code);
  return typeof given === "string" ? given : "INTERNAL_SERVER_ERROR";
}

/** What graphql says of a document or a variable repeats what it was sent, of whatever length. */
function shown(error: GraphQLError, cause: unknown): string {
  const message = messageOf(error, cause);
  return isAboutRequest(error, cause) ? cut(message, MOST_SHOWN) : message;
}

const MOST_SHOWN = 1_000;

/** Whether graphql found it in the document or its variables, before anything ran. */
function isAboutRequest(error: GraphQLError, cause: unknown): boolean {
  return error.path === undefined && isGraphQLError(cause);
}

/** The sentence for the log, without the value: it may be a password that was sent as a number. */
function withoutValue(message: string): string {
  const variable = /^Variable "(\$\w+)"/.exec(message)?.[1];
  if (variable !== undefined) return `The variable ${variable} does not fit its type`;
  return message.replace(/\b(value:|found:?) .*$/s, "$1 ...");
}

function messageOf(error: GraphQLError, cause: unknown): string {
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}

/** What an author put there, and what REST says in headers and members, if JSON can say it. */
function safeExtensions(error: GraphQLError, cause: unknown): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(JSON.stringify({ ...membersOf(cause), ...error.extensions })) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function membersOf(cause: unknown): Readonly<Record<string, unknown>> {
  if (!(cause instanceof PorticoError)) return {};
  const { "retry-after": wait } = cause.headers;
  // One of several fields has no header of its own.
  return { ...(/^\d+$/.test(wait ?? "") ? { retryAfter: Number(wait) } : {}), ...cause.members };
}

/** The client was told no, by a gate or an exception with nothing beneath it: where that was thrown is of no interest. */
function isBareRefusal(cause: unknown): cause is Error {
  if (cause instanceof GraphQLDenied) return true;
  return cause instanceof PorticoError && cause.status < 500 && cause.cause === undefined;
}

function log(ctx: BaseContext, error: GraphQLError, cause: unknown, details: object, isExpected: boolean): void {
  const subject = isGraphQLError(cause) ? error : cause;
  try {
    if (isExpected && isBareRefusal(cause)) return logRefusal(ctx.host, ctx.exchange, cause.message, details);
    if (isExpected && isAboutRequest(error, cause))
      return logRefusal(ctx.host, ctx.exchange, withoutValue(error.message), details);
    logFailure(ctx.host, ctx.exchange, subject, details, isExpected ? "info" : "error");
  } catch {
    // An error whose own properties throw when they are read, or written to as the logger does.
    logFailure(ctx.host, ctx.exchange, new Error("what was thrown cannot be printed"), details);
  }
}
