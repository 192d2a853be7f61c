import { STATUS_CODES } from "node:http";
import { type ExecutionResult, GraphQLError } from "graphql";
import { toError } from "../../core/describe-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { Slice } from "../../core/work/slice.ts";
import { statusOf, writeResult } from "../../http/serving/respond.ts";
import type { ExceptionHandler } from "../../kernel/context/exception-handlers.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { Outgoing } from "../../kernel/context/messages.ts";
import type { PorticoResponse } from "../../kernel/context/portico-response.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import { isGraphQLError, rootCause } from "./root-cause.ts";
import { withoutStack } from "./without-stack.ts";

/**
 * Asks the application's exception handlers about the errors that resolvers threw, as for those of routes. Errors of
 * graphql itself and of gates are left as they are.
 */
export function handleExceptions(result: ExecutionResult, ctx: BaseContext): MaybePromise<ExecutionResult> {
  const { errors } = result;
  if (errors === undefined || !errors.some((error) => handlerOf(error, ctx) !== null)) return result;
  return handleEach(errors, ctx).then((handled) => ({ ...result, errors: handled }));
}

async function handleEach(errors: readonly GraphQLError[], ctx: BaseContext): Promise<readonly GraphQLError[]> {
  const slice = new Slice();
  // Many fields can fail by one error, such as that of a loader.
  const asked = new Map<unknown, Promise<unknown>>();
  const handled: Promise<GraphQLError>[] = [];
  for (const error of errors) {
    const handler = handlerOf(error, ctx);
    const cause = rootCause(error);
    if (handler !== null && !asked.has(cause)) asked.set(cause, replacement(handler, ctx, cause));
    handled.push(
      handler === null
        ? Promise.resolve(error)
        : (asked.get(cause) as Promise<unknown>).then((instead) => withCause(error, instead)),
    );
    if (slice.isOver(STEPS_PER_ERROR)) await slice.rest();
  }
  return Promise.all(handled);
}

/** How many steps of a slice the call of a handler takes as long as. */
const STEPS_PER_ERROR = 32;

function handlerOf(error: GraphQLError, { services }: BaseContext): ExceptionHandler<unknown> | null {
  const cause = rootCause(error);
  return isGraphQLError(cause) ? null : services.exceptionHandlers.find(cause);
}

/** The error that the handler throws, or the one that its response describes. */
async function replacement(handler: ExceptionHandler<unknown>, ctx: BaseContext, cause: unknown): Promise<unknown> {
  // A field has no response, so what the handler writes must not change that of the operation.
  const response = ctx.services.messages.outgoing(ctx);
  try {
    writeResult(response, await handler(ctx.request, response as PorticoResponse<number> as PorticoResponse, cause));
  } catch (failure) {
    return toError(failure);
  }
  const status = statusOf(response);
  // A success cannot replace the value of a field.
  return status < 400 ? cause : describedError(status, response.body);
}

function describedError(status: number, body: Outgoing["body"]): HttpException {
  const title = STATUS_CODES[status] ?? "Error";
  if (body?.kind === "plain" && typeof body.value === "string") return new HttpException(status, body.value);
  const value: unknown = body?.kind === "json" ? body.value : null;
  if (typeof value === "string" && value !== "") return new HttpException(status, value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return new HttpException(status, title);
  const { detail, message, code, status: _status, type: _type, title: given, ...members } = value as Problem;
  const sentence = [detail, message, given].find((text) => typeof text === "string" && text !== "");
  const named = typeof code === "string" ? { code: code.toUpperCase() } : {};
  // The other members become extensions.
  return new HttpException(status, (sentence as string | undefined) ?? title, { ...named, members });
}

type Problem = Readonly<Record<string, unknown>>;

function withCause(error: GraphQLError, cause: unknown): GraphQLError {
  const originalError = toError(cause);
  const { nodes, path } = error;
  return withoutStack(
    () => new GraphQLError(originalError.message, { nodes: nodes ?? null, path: path ?? null, originalError }),
  );
}
