import { ConfigurationError } from "../../core/configuration-error.ts";
import { errorCodes } from "../../core/error-codes.ts";
import { flag, optional, resolveOptions } from "../../core/resolve-options.ts";
import { countErrors } from "../errors/format-errors.ts";
import { shownName } from "./named-rows.ts";
import type { OperationContext, OperationEnd, OperationHook, OperationResult } from "./operation-hook.ts";

type Attributes = Record<string, string | number>;

/** The part of OpenTelemetry's `Span` that Portico uses. */
export interface OperationSpan {
  end(endTime?: number): void;
  setAttributes?(attributes: Attributes): unknown;
  setStatus?(status: { code: number }): unknown;
  updateName?(name: string): unknown;
}

/** The part of OpenTelemetry's `Tracer` that Portico uses. */
export interface OperationTracer {
  startSpan(name: string, options?: { startTime?: number; attributes?: Attributes }): OperationSpan;
}

/** A tracer that can also open an active span, such as OpenTelemetry's. */
export interface ActiveOperationTracer extends OperationTracer {
  startActiveSpan<T>(name: string, run: (span: OperationSpan) => T): T;
}

export interface OpenTelemetryOptions {
  /** Whether the span is active while the operation runs, so that resolvers can create child spans. @default false */
  readonly active?: boolean;
}

const rules = { active: optional(flag, false) };

/**
 * A hook that creates one span per operation, with `graphql.operation.name`, `graphql.errors` and `graphql.cost`. The name of
 * an unnamed operation is `<anonymous>`. The span is created when the operation ends, with the time of its start, below the
 * span that is active then. With `active` it is open while the operation runs. Portico does not depend on a tracing library.
 *
 * @example
 * ```ts
 * import { trace } from "@opentelemetry/api";
 * import { field, Graph, opentelemetry, schema, t } from "portico/graphql";
 *
 * const graph = new Graph(schema({ query: { hello: field(t.string)(() => "world") } }));
 * graph.onOperation(opentelemetry(trace.getTracer("bookshop"), { active: true }));
 * ```
 */
export function opentelemetry(tracer: OperationTracer, options?: { readonly active?: false }): OperationHook;
export function opentelemetry(tracer: ActiveOperationTracer, options?: OpenTelemetryOptions): OperationHook;
export function opentelemetry(
  tracer: OperationTracer | ActiveOperationTracer,
  options: OpenTelemetryOptions = {},
): OperationHook {
  const { active } = resolveOptions("opentelemetry", options, rules);
  const method = active ? "startActiveSpan" : "startSpan";
  if (typeof (tracer as Partial<ActiveOperationTracer> | undefined)?.[method] !== "function")
    throw new ConfigurationError("opentelemetry tracer", `an object with ${method}()`, tracer);
  return active ? activeSpans(tracer as ActiveOperationTracer) : backDatedSpans(tracer);
}

function backDatedSpans(tracer: OperationTracer): OperationHook {
  return (result, context) => {
    // Both times are set, because the wall clock may have changed and the duration must be correct.
    const endTime = Date.now();
    const startTime = endTime - context.durationSeconds * 1000;
    const span = tracer.startSpan(nameOf(context), { startTime, attributes: attributesOf(result, context) });
    if (isFault(result)) span.setStatus?.(FAULT);
    span.end(endTime);
  };
}

function activeSpans(tracer: ActiveOperationTracer): OperationHook {
  return {
    around: (run) =>
      tracer.startActiveSpan(UNKNOWN, async (span) => {
        try {
          describe(span, await run());
        } finally {
          span.end();
        }
      }),
  };
}

function describe(span: OperationSpan, { result, context }: OperationEnd): void {
  span.updateName?.(nameOf(context));
  span.setAttributes?.(attributesOf(result, context));
  if (isFault(result)) span.setStatus?.(FAULT);
}

// OpenTelemetry's conventions for GraphQL use the type only, because clients can invent names.
const UNKNOWN = "GraphQL Operation";

function nameOf({ operationType }: OperationContext): string {
  return operationType ?? UNKNOWN;
}

function attributesOf({ errors }: OperationResult, context: OperationContext): Attributes {
  const { operationType, cost } = context;
  const attributes: Attributes = {
    "graphql.errors": countErrors(errors),
    "graphql.operation.name": shownName(context),
  };
  if (operationType !== null) attributes["graphql.operation.type"] = operationType;
  if (cost !== null) attributes["graphql.cost"] = cost;
  return attributes;
}

/** `SpanStatusCode.ERROR` */
const FAULT = { code: 2 };

/** As for HTTP, an error of the client does not mark the span as failed. */
function isFault({ errors }: OperationResult): boolean {
  return errors.some(({ extensions: { code } }) => statusOf(code) >= 500);
}

function statusOf(code: string): number {
  return Object.hasOwn(errorCodes, code) ? errorCodes[code as keyof typeof errorCodes] : 400;
}
