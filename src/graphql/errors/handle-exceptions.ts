import { STATUS_CODES } from "node:http";
import { type ExecutionResult, GraphQLError } from "graphql";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { ExceptionHandler } from "../../http/context/exception-handlers.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { OutgoingResponse, type PorticoResponse } from "../../http/context/portico-response.ts";
import { HttpException } from "../../http/exceptions/http-exception.ts";
import { statusOf, writeResult } from "../../http/serving/respond.ts";
import { isGraphQLError, rootCause } from "./root-cause.ts";

/**
 * Asks the application's exception handlers about the errors that resolvers threw, as for those of routes. Errors of
 * graphql itself and of gates are left as they are.
 */
export function handleExceptions(result: ExecutionResult, ctx: BaseContext): MaybePromise<ExecutionResult> {
  const { errors } = result;
  if (errors === undefined || !errors.some((error) => handlerOf(error, ctx) !== null)) return result;
  // Many fields can fail by one error, such as that of a loader.
  const asked = new Map<unknown, Promise<unknown>>();
  const handled = errors.map(async (error) => {
    const handler = handlerOf(error, ctx);
    if (handler === null) return error;
    const cause = rootCause(error);
    const instead = asked.get(cause) ?? replacement(handler, ctx, cause);
    asked.set(cause, instead);
    return withCause(error, await instead);
  });
  return Promise.all(handled).then((replaced) => ({ ...result, errors: replaced }));
}

function handlerOf(error: GraphQLError, { services }: BaseContext): ExceptionHandler<unknown> | null {
  const cause = rootCause(error);
  return isGraphQLError(cause) ? null : services.exceptionHandlers.find(cause);
}

/** The error that the handler throws, or the one that its response describes. */
async function replacement(handler: ExceptionHandler<unknown>, ctx: BaseContext, cause: unknown): Promise<unknown> {
  // A field has no response, so what the handler writes must not change that of the operation.
  const response = new OutgoingResponse(ctx);
  try {
    writeResult(response, await handler(ctx.request, response as PorticoResponse<number> as PorticoResponse, cause));
  } catch (failure) {
    return failure;
  }
  const status = statusOf(response);
  // A success cannot replace the value of a field.
  return status < 400 ? cause : describedError(status, response.body);
}

function describedError(status: number, body: OutgoingResponse["body"]): HttpException {
  const title = STATUS_CODES[status] ?? "Error";
  if (body?.kind === "plain" && typeof body.value === "string") return new HttpException(status, body.value);
  const value: unknown = body?.kind === "json" ? body.value : null;
  if (typeof value === "string" && value !== "") return new HttpException(status, value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return new HttpException(status, title);
  const { detail, message, code, status: _status, type: _type, title: given, ...members } = value as Problem;
  const sentence = [detail, message, given].find((text) => typeof text === "string" && text !== "");
  const options = typeof code === "string" ? { code: code.toUpperCase() } : {};
  return new DescribedError(status, (sentence as string | undefined) ?? title, options, members);
}

type Problem = Readonly<Record<string, unknown>>;

/** An error with the other members of a response, which become extensions. */
class DescribedError extends HttpException {
  readonly #members: Problem;

  constructor(status: number, message: string, options: { readonly code?: string }, members: Problem) {
    super(status, message, options);
    this.#members = members;
  }

  override get members(): Problem {
    return this.#members;
  }
}

function withCause(error: GraphQLError, cause: unknown): GraphQLError {
  const originalError = cause instanceof Error ? cause : new Error(String(cause));
  const { nodes, path } = error;
  return new GraphQLError(originalError.message, { nodes: nodes ?? null, path: path ?? null, originalError });
}
