import { ConfigurationError } from "../../core/configuration-error.ts";
import { errorCodes } from "../../core/error-codes.ts";
import { flag, optional, resolveOptions } from "../../core/resolve-options.ts";
import { countErrors } from "../errors/format-errors.ts";
import { shownName } from "./named-rows.ts";
import type { OperationContext, OperationEnd, OperationHook, OperationResult } from "./operation-hook.ts";

type Attributes = Record<string, string | number>;

/** What is asked of a span: OpenTelemetry's is one. */
export interface OperationSpan {
  end(endTime?: number): void;
  setAttributes?(attributes: Attributes): unknown;
  setStatus?(status: { code: number }): unknown;
  updateName?(name: string): unknown;
}

/** What is asked of a tracer: OpenTelemetry's is one. */
export interface OperationTracer {
  startSpan(name: string, options?: { startTime?: number; attributes?: Attributes }): OperationSpan;
}

/** A tracer that can open a span for what runs in it: OpenTelemetry's is one. */
export interface ActiveOperationTracer extends OperationTracer {
  startActiveSpan<T>(name: string, run: (span: OperationSpan) => T): T;
}

export interface OpenTelemetryOptions {
  /** Whether the span is opened when the operation begins, so that what it does can have spans below. @default false */
  readonly active?: boolean;
}

const rules = { active: optional(flag, false) };

/**
 * A hook that makes one span per operation, with `graphql.operation.name`, `graphql.errors` and `graphql.cost`. The name of an
 * unnamed operation is `<anonymous>`. The span is made when the operation ends, with its true start, under the span that is
 * active then; with `active` it is open meanwhile. The tracer is yours: Portico knows no tracing library.
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
    // Both times are given: the wall clock may have been set meanwhile, and the duration has to be true.
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

// By OpenTelemetry's conventions for GraphQL: the type alone, since the names are the clients' to invent.
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

/** As for HTTP: what the client did wrong is not a fault of the server. */
function isFault({ errors }: OperationResult): boolean {
  return errors.some(({ extensions: { code } }) => statusOf(code) >= 500);
}

function statusOf(code: string): number {
  return Object.hasOwn(errorCodes, code) ? errorCodes[code as keyof typeof errorCodes] : 400;
}
