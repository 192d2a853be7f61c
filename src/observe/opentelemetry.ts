import { ConfigurationError } from "../core/configuration-error.ts";
import { errorCodes } from "../core/error-codes.ts";
import { flag, optional, resolveOptions } from "../core/resolve-options.ts";
import type { RequestAround, RequestEvent } from "../kernel/hooks/request-hooks.ts";
import { shownName } from "./named-rows.ts";
import {
  countErrors,
  type ObservedOperation,
  type ObservedResult,
  type ObservedStatement,
} from "./observed-operation.ts";
import { statementVerb } from "./statement-verb.ts";

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
  /**
   * Whether spans are active while the request or the operation runs, so that resolvers and statements create child spans.
   *
   * @default false
   */
  readonly active?: boolean;
}

/** The arguments of an operation hook, as `around` receives them. */
export interface ObservedEnd {
  readonly result: ObservedResult;
  readonly context: ObservedOperation;
}

/** Hooks that create spans, for `graph.onOperation`, `app.onRequest` and the option `onStatement` of a database. */
export interface OpenTelemetryHook {
  readonly onOperation: (result: ObservedResult, context: ObservedOperation) => void;
  readonly around?: (run: () => Promise<ObservedEnd>) => unknown;
  readonly onRequest: (event: RequestEvent) => void;
  readonly aroundRequest?: RequestAround;
  readonly onStatement: (statement: ObservedStatement) => void;
}

const rules = { active: optional(flag, false) };

/**
 * Creates a span per operation, request and statement, wherever it is added as a hook. An operation's span has
 * `graphql.operation.name`, `graphql.errors` and `graphql.cost`. Spans are created at the end, with the time of the start,
 * below the span that is active then. With `active`, those of requests and operations are open while they run. Portico does
 * not depend on a tracing library.
 *
 * @example
 * ```ts
 * import { trace } from "@opentelemetry/api";
 * import { opentelemetry, PorticoApp } from "portico";
 * import { field, Graph, schema, t } from "portico/graphql";
 *
 * const spans = opentelemetry(trace.getTracer("bookshop"), { active: true });
 * const app = new PorticoApp().onRequest(spans);
 * new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).onOperation(spans).mount(app);
 * ```
 */
export function opentelemetry(tracer: OperationTracer, options?: { readonly active?: false }): OpenTelemetryHook;
export function opentelemetry(tracer: ActiveOperationTracer, options?: OpenTelemetryOptions): OpenTelemetryHook;
export function opentelemetry(
  tracer: OperationTracer | ActiveOperationTracer,
  options: OpenTelemetryOptions = {},
): OpenTelemetryHook {
  const { active } = resolveOptions("opentelemetry", options, rules);
  const method = active ? "startActiveSpan" : "startSpan";
  if (typeof (tracer as Partial<ActiveOperationTracer> | undefined)?.[method] !== "function")
    throw new ConfigurationError("opentelemetry tracer", `an object with ${method}()`, tracer);
  const backDated = backDatedSpans(tracer);
  return active ? { ...activeSpans(tracer as ActiveOperationTracer), onStatement: backDated.onStatement } : backDated;
}

/** The contents of a span. */
interface Description {
  readonly name: string;
  readonly attributes: Attributes;
  readonly isFault: boolean;
}

function backDatedSpans(tracer: OperationTracer): OpenTelemetryHook {
  const draw = ({ name, attributes, isFault }: Description, durationSeconds: number): void => {
    // Both times are set, because the wall clock may have changed and the duration must be correct.
    const endTime = Date.now();
    const span = tracer.startSpan(name, { startTime: endTime - durationSeconds * 1000, attributes });
    if (isFault) span.setStatus?.(FAULT);
    span.end(endTime);
  };
  return {
    onOperation: (result, context) => draw(operation(result, context), context.durationSeconds),
    onRequest: (event) => {
      if (event.kind !== "socket-opened") draw(request(event), event.durationSeconds);
    },
    onStatement: (sent) => draw(statement(sent), sent.durationSeconds),
  };
}

function activeSpans(tracer: ActiveOperationTracer): Omit<OpenTelemetryHook, "onStatement"> {
  const around = <End>(first: string, describe: (end: End) => Description) => {
    return (run: () => Promise<End>): unknown =>
      tracer.startActiveSpan(first, async (span) => {
        try {
          const { name, attributes, isFault } = describe(await run());
          span.updateName?.(name);
          span.setAttributes?.(attributes);
          if (isFault) span.setStatus?.(FAULT);
        } finally {
          span.end();
        }
      });
  };
  return {
    onOperation: ignore,
    around: around<ObservedEnd>(UNKNOWN, ({ result, context }) => operation(result, context)),
    onRequest: ignore,
    aroundRequest: around<RequestEvent>("HTTP", request),
  };
}

function ignore(): void {}

// OpenTelemetry's conventions for GraphQL use the type only, because clients can invent names.
const UNKNOWN = "GraphQL Operation";

function operation({ errors }: ObservedResult, context: ObservedOperation): Description {
  const { operationType, cost } = context;
  const attributes: Attributes = {
    "graphql.errors": countErrors(errors),
    "graphql.operation.name": shownName(context),
  };
  if (operationType !== null) attributes["graphql.operation.type"] = operationType;
  if (cost !== null) attributes["graphql.cost"] = cost;
  // As for HTTP, an error of the client does not mark the span as failed.
  const isFault = errors.some(({ extensions: { code } }) => statusOf(code) >= 500);
  return { name: operationType ?? UNKNOWN, attributes, isFault };
}

function request({ method, route, status }: RequestEvent): Description {
  const attributes: Attributes = { "http.request.method": method, "http.response.status_code": status };
  if (route !== null) attributes["http.route"] = route;
  return { name: route === null ? method : `${method} ${route}`, attributes, isFault: status >= 500 };
}

function statement({ sql }: ObservedStatement): Description {
  return { name: statementVerb(sql), attributes: { "db.query.text": sql }, isFault: false };
}

/** `SpanStatusCode.ERROR` */
const FAULT = { code: 2 };

function statusOf(code: string): number {
  return Object.hasOwn(errorCodes, code) ? errorCodes[code as keyof typeof errorCodes] : 400;
}
