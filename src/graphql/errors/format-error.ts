import type { GraphQLError } from "graphql";
import { correlationId } from "../../core/correlation-id.ts";
import { cut } from "../../core/cut.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { HttpException } from "../../http/context/http-exception.ts";
import { logFailure, logRefusal } from "../../http/context/render-problem.ts";
import { GraphQLDenied } from "../fields/graphql-denied.ts";
import { locationsOf } from "./document-source.ts";

/** An error as it goes out. */
export interface FormattedError {
  readonly message: string;
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string; readonly correlationId: string };
}

const MASKED = "Unexpected error";
const LATER = "Service unavailable. Try again later."; /** A client may give a field a name of any length. */
const MOST_LOGGED = 300;

/**
 * Formats an error and writes the one log line that its correlation id is found in. The text of an error that is meant for
 * clients is sent: graphql's own, a `GraphQLError` of a resolver, an HTTP exception. Any other is masked; an outage keeps its code
 * and `retryAfter`.
 */
export function formatError(error: GraphQLError, ctx: BaseContext, isDebug: boolean): FormattedError {
  const id = correlationId();
  const cause = rootCause(error);
  const isShown = isDebug || isMeantForClients(error, cause);
  // As on a route: when to come back is worth telling, why is not.
  const outage = !isShown && cause instanceof PorticoError && cause.status === 503 ? cause : null;
  const code = isShown ? codeOf(error, cause) : (outage?.code ?? "INTERNAL_SERVER_ERROR");
  const { path } = error;
  const locations = locationsOf(error);
  log(
    ctx,
    error,
    cause,
    { correlation_id: id, code, ...(path === undefined ? {} : { field: cut(path.join("."), MOST_LOGGED) }) },
    isShown && !isDebug,
  );
  return {
    message: isShown ? shown(error, cause) : outage === null ? MASKED : LATER,
    ...(locations === undefined ? {} : { locations: locations.map(({ line, column }) => ({ line, column })) }),
    ...(path === undefined ? {} : { path }),
    extensions: {
      ...(isShown ? safeExtensions(error, cause) : outage === null ? {} : waitOf(outage)),
      code,
      correlationId: id,
    },
  };
}

/** Whether what went wrong is not meant for clients. */
export function isUnexpected(error: GraphQLError): boolean {
  return !isMeantForClients(error, rootCause(error));
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
  / cannot represent |^Expected `.*returned: |^Expected Iterable, |^Expected value of type "|^Abstract type "|^Runtime Object type "/;

function codeOf(error: GraphQLError, cause: unknown): string {
  const given =
    error.extensions["code"] ?? (isGraphQLError(cause) ? cause.extensions["code"] : (cause as PorticoError).code);
  if (typeof given === "string") return given;
  return isAboutArgument(cause) ? "BAD_USER_INPUT" : "INTERNAL_SERVER_ERROR";
}

/** Whether graphql could not make an argument of what the document and its variables say together: found when the field is run. */
function isAboutArgument(cause: unknown): boolean {
  return isGraphQLError(cause) && cause.nodes !== undefined && cause.message.startsWith('Argument "');
}

/** What graphql says of a document or a variable repeats what it was sent, of whatever length. */
function shown(error: GraphQLError, cause: unknown): string {
  const message = messageOf(error, cause);
  return isAboutRequest(error, cause) ? cut(message, MOST_SHOWN) : message;
}

const MOST_SHOWN = 1_000;

/** Whether graphql found it in the document or its variables, before the resolver ran. */
function isAboutRequest(error: GraphQLError, cause: unknown): boolean {
  return isAboutArgument(cause) || (error.path === undefined && isGraphQLError(cause));
}

/** The sentence for the log, without the value: it may be a password that was sent as a number. */
function withoutValue(message: string): string {
  const variable = /^Variable "(\$\w+)"/.exec(message)?.[1];
  if (variable !== undefined) return `The variable ${variable} does not fit its type`;
  return message.replace(/\b(value:?|found:?) .*$/s, "$1 ...");
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
  return cause instanceof PorticoError ? { ...waitOf(cause), ...cause.members } : {};
}

/** One of several fields has no header of its own. */
function waitOf({ headers }: PorticoError): { readonly retryAfter?: number } {
  const { "retry-after": wait } = headers;
  return /^\d+$/.test(wait ?? "") ? { retryAfter: Number(wait) } : {};
}

/** The client was told no, by a gate or an exception with nothing beneath it: where that was thrown is of no interest. */
function isBareRefusal(cause: unknown): cause is Error {
  if (cause instanceof GraphQLDenied) return true;
  return cause instanceof PorticoError && cause.status < 500 && cause.cause === undefined;
}

function log(ctx: BaseContext, error: GraphQLError, cause: unknown, details: object, isExpected: boolean): void {
  const subject = isGraphQLError(cause) ? error : cause;
  try {
    if (isExpected && isBareRefusal(cause)) return logRefusal(ctx.services, ctx.exchange, cause.message, details);
    if (isExpected && isAboutRequest(error, cause))
      return logRefusal(ctx.services, ctx.exchange, withoutValue(error.message), details);
    logFailure(ctx.services, ctx.exchange, subject, details, isExpected ? "info" : "error");
  } catch {
    // An error whose own properties throw when they are read, or written to as the logger does.
    logFailure(ctx.services, ctx.exchange, new Error("what was thrown cannot be printed"), details);
  }
}
