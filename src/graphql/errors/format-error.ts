import type { GraphQLError } from "graphql";
import { correlationId } from "../../core/correlation-id.ts";
import { isInstance } from "../../core/describe-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { shorten } from "../../core/shorten.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { logFailure, logRefusal } from "../../kernel/context/log-failure.ts";
import { isForClients, isOutage } from "../../kernel/exceptions/is-for-clients.ts";
import { type ErrorFormat, reworded } from "./error-format.ts";
import type { FormattedError } from "./formatted-error.ts";
import { GraphQLDenied } from "./graphql-denied.ts";
import { locationsOf } from "./request-source.ts";
import { isGraphQLError, rootCause } from "./root-cause.ts";

const MASKED = "Unexpected error";
const LATER = "Service unavailable. Try again later.";
/** Aliases in the path may be long, so the logged path is cut. */
const MAX_LOGGED = 300;

/**
 * Formats an error and writes one log line with its correlation id. The message is sent if it is meant for clients: an
 * error of graphql itself, a `GraphQLError` from a resolver, or an HTTP exception. Any other message is masked. An
 * outage keeps its code and `retryAfter`. At last, `Graph.formatError` may change what is sent.
 */
export function formatError(error: GraphQLError, ctx: BaseContext, format: ErrorFormat): FormattedError {
  const { isDebug } = format;
  const id = correlationId();
  const cause = rootCause(error);
  const isShown = isDebug || isMeantForClients(error, cause);
  // As on a route, clients learn when to retry, but not the reason.
  const outage = !isShown && isOutage(cause) ? cause : null;
  const code = isShown ? codeOf(error, cause) : (outage?.code ?? "INTERNAL_SERVER_ERROR");
  const { path } = error;
  const locations = locationsOf(error);
  log(
    ctx,
    error,
    cause,
    { correlation_id: id, code, ...(path === undefined ? {} : { field: shorten(path.join("."), MAX_LOGGED) }) },
    isShown && !isDebug,
  );
  const settled: FormattedError = {
    message: isShown ? shown(error, cause) : outage === null ? MASKED : LATER,
    ...(locations === undefined ? {} : { locations: locations.map(({ line, column }) => ({ line, column })) }),
    ...(path === undefined ? {} : { path }),
    extensions: {
      ...(isShown ? safeExtensions(error, cause) : outage === null ? {} : waitOf(outage)),
      code,
      correlationId: id,
    },
  };
  return reworded({ shown: settled, error: cause, isMasked: !isShown }, ctx, format);
}

/** Whether the details of an error are hidden from clients. */
export function isUnexpected(error: GraphQLError): boolean {
  return !isMeantForClients(error, rootCause(error));
}

function isMeantForClients(error: GraphQLError, cause: unknown): boolean {
  return isForClients(cause) || (isGraphQLError(cause) && !isMisfit(error, cause));
}

/** Whether graphql reports a result that does not match the type of its field. The message quotes that result. */
function isMisfit(error: GraphQLError, cause: GraphQLError): boolean {
  return error.path !== undefined && cause.extensions["code"] === undefined && MISFIT.test(cause.message);
}

// Matches the messages of graphql's executor and scalars, in both major versions.
const MISFIT =
  / cannot represent |^Expected `.*returned: |^Expected Iterable, |^Expected value of type "|^Abstract type "|^Runtime Object type "/;

function codeOf(error: GraphQLError, cause: unknown): string {
  const given =
    error.extensions["code"] ?? (isGraphQLError(cause) ? cause.extensions["code"] : (cause as PorticoError).code);
  if (typeof given === "string") return given;
  return isAboutArgument(cause) ? "BAD_USER_INPUT" : "INTERNAL_SERVER_ERROR";
}

/** Whether graphql could not coerce an argument. With variables, it finds this only when the field runs. */
function isAboutArgument(cause: unknown): boolean {
  return isGraphQLError(cause) && cause.nodes !== undefined && cause.message.startsWith('Argument "');
}

/** The message for the client. graphql quotes the document or a variable, which may be long, so that message is cut. */
function shown(error: GraphQLError, cause: unknown): string {
  const message = messageOf(error, cause);
  return isAboutRequest(error, cause) ? shorten(message, MAX_SHOWN) : message;
}

const MAX_SHOWN = 1_000;

/** Whether graphql found the error in the document or its variables, before the resolver ran. */
function isAboutRequest(error: GraphQLError, cause: unknown): boolean {
  return isAboutArgument(cause) || (error.path === undefined && isGraphQLError(cause));
}

/** The message for the log, without the value, which may be a password that was sent as a number. */
function withoutValue(message: string): string {
  const variable = /^Variable "(\$\w+)"/.exec(message)?.[1];
  if (variable !== undefined) return `The variable ${variable} does not match its type`;
  return message.replace(/\b(value:?|found:?) .*$/s, "$1 ...");
}

function messageOf(error: GraphQLError, cause: unknown): string {
  return isInstance(cause, Error) && cause.message !== "" ? cause.message : error.message;
}

/**
 * The extensions of the error, and the values that a route sends as headers and members, if JSON can represent them.
 */
function safeExtensions(error: GraphQLError, cause: unknown): Readonly<Record<string, unknown>> {
  const all = { ...membersOf(cause), ...error.extensions };
  if (Object.values(all).every(isAlreadyJson)) return all;
  try {
    return JSON.parse(JSON.stringify(all)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function isAlreadyJson(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

function membersOf(cause: unknown): Readonly<Record<string, unknown>> {
  return isInstance(cause, PorticoError) ? { ...waitOf(cause), ...cause.members } : {};
}

/** A single field has no response headers, so `retry-after` becomes an extension. */
function waitOf({ headers }: PorticoError): { readonly retryAfter?: number } {
  const { "retry-after": wait } = headers;
  return /^\d+$/.test(wait ?? "") ? { retryAfter: Number(wait) } : {};
}

/** A rejection by a gate, or by an exception without a cause. It is logged without a stack trace. */
function isBareRefusal(cause: unknown): cause is Error {
  if (isInstance(cause, GraphQLDenied)) return true;
  return isInstance(cause, PorticoError) && cause.status < 500 && cause.cause === undefined;
}

function log(ctx: BaseContext, error: GraphQLError, cause: unknown, details: object, isExpected: boolean): void {
  const subject = isGraphQLError(cause) ? error : cause;
  // As on a route: a line for each rejected request would add to the load.
  if (isInstance(cause, PorticoError) && cause.code === "OVERLOADED") return;
  try {
    if (isExpected && isBareRefusal(cause)) return logRefusal(ctx.services, ctx.exchange, cause.message, details);
    if (isExpected && isAboutRequest(error, cause))
      return logRefusal(ctx.services, ctx.exchange, withoutValue(error.message), details);
    logFailure(ctx.services, ctx.exchange, subject, details, isExpected ? "info" : "error");
  } catch {
    // The properties of the error throw when the logger reads or writes them.
    logFailure(ctx.services, ctx.exchange, new Error("the thrown value cannot be printed"), details);
  }
}
