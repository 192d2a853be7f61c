import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Logger } from "../../core/logger.ts";
import { flag, optional, resolveOptions, seconds } from "../../core/resolve-options.ts";
import { shownName } from "../../observe/named-rows.ts";
import { countErrors } from "../../observe/observed-operation.ts";
import type { FieldTiming } from "../operation/field-trace.ts";
import type { OperationContext, OperationResult } from "./operation-hook.ts";

/** The options of `OperationLog`. */
export interface OperationLogOptions {
  /** Operations that take longer than this are logged, in seconds; 0 logs all operations. @default 1 */
  readonly slowerThan?: number;
  /** Whether operations with errors are logged, however fast they were. @default true */
  readonly errors?: boolean;
  /** Whether a line has the slowest fields of its operation. Every field of every operation is then timed. @default false */
  readonly trace?: boolean;
}

/** Any logger with a `warn` method, such as `console`. */
export interface WarningLogger {
  warn(sentence: string, details: object): void;
}

const rules = { slowerThan: optional(seconds, 1), errors: optional(flag, true), trace: optional(flag, false) };

/** The logger name of the lines in the application's log. */
const NAME = "portico.graphql.operations";
const MAX_FIELDS = 5;

/**
 * A hook that logs slow operations and operations with errors, as warnings of `portico.graphql.operations`:
 * `Shelf took 612 ms, cost=12 errors=0`. To use another logger, pass it first: a pino logger, or any object with `warn`.
 * A subscription is never slow, however long it was open.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { field, Graph, OperationLog, schema, t } from "portico/graphql";
 *
 * const app = new PorticoApp();
 * new Graph(schema({ query: { hello: field(t.string)(() => "world") } }))
 *   .onOperation(new OperationLog({ slowerThan: 0.5 }))
 *   .onOperation(new OperationLog(console, { slowerThan: 5, errors: false, trace: true }))
 *   .mount(app);
 * ```
 */
export class OperationLog {
  /** Whether fields must be timed for it. */
  readonly traces: boolean;
  readonly #slowerThan: number;
  readonly #errors: boolean;
  readonly #write: (sentence: string, details: object, context: OperationContext) => void;

  constructor(options?: OperationLogOptions);
  constructor(logger: Logger | WarningLogger, options?: OperationLogOptions);
  constructor(first: Logger | WarningLogger | OperationLogOptions = {}, second?: OperationLogOptions) {
    const isLogger = typeof first === "object" && first !== null && "warn" in first;
    if (isLogger && typeof first.warn !== "function")
      throw new ConfigurationError("OperationLog logger", "must have a warn() method");
    if (!isLogger && second !== undefined)
      throw new ConfigurationError("OperationLog logger", "a logger with a warn() method", first);
    const read = resolveOptions("OperationLog", (isLogger ? second : first) ?? {}, rules);
    this.traces = read.trace;
    this.#slowerThan = read.slowerThan;
    this.#errors = read.errors;
    this.#write = isLogger ? writerTo(first) : writerToApplication();
  }

  onOperation(result: OperationResult, context: OperationContext): void {
    if (!this.#isSlow(context) && (result.ok || !this.#errors)) return;
    const { durationSeconds, cost, trace } = context;
    const name = shownName(context);
    const ms = toMs(durationSeconds);
    const errors = countErrors(result.errors);
    const fields = this.traces ? (trace?.slowest(MAX_FIELDS).map(logged) ?? []) : [];
    this.#write(
      `${name} took ${ms} ms, cost=${cost ?? "-"} errors=${errors}${fields.length === 0 ? "" : `, slowest: ${fields.map(say).join(", ")}`}`,
      { operation: name, duration_ms: ms, cost, errors, ...(fields.length === 0 ? {} : { slowest_fields: fields }) },
      context,
    );
  }

  #isSlow({ durationSeconds, operationType }: OperationContext): boolean {
    if (this.#slowerThan === 0) return true;
    return durationSeconds > this.#slowerThan && operationType !== "subscription";
  }
}

type Writer = (sentence: string, details: object, context: OperationContext) => void;

/** pino and similar loggers take the details first; others take them second or ignore them. */
function writerTo(logger: Logger | WarningLogger): Writer {
  if (isLikePino(logger)) return (sentence, details) => logger.warn(details, sentence);
  return (sentence, details) => logger.warn(sentence, details);
}

function isLikePino(logger: Logger | WarningLogger): logger is Logger {
  return "child" in logger && "fatal" in logger;
}

/** One hook may serve several applications, so it has a child logger for each. */
function writerToApplication(): Writer {
  const children = new WeakMap<Logger, Logger>();
  return (sentence, details, { log }) => {
    const child = children.get(log) ?? log.child({ name: NAME });
    children.set(log, child);
    child.warn(details, sentence);
  };
}

/** A field of the line. */
interface SlowField {
  readonly field: string;
  readonly calls: number;
  readonly slowest_ms: number;
}

function logged({ field, calls, slowestSeconds }: FieldTiming): SlowField {
  return { field, calls, slowest_ms: toMs(slowestSeconds) };
}

function say({ field, calls, slowest_ms: ms }: SlowField): string {
  return `${field} ${ms} ms${calls === 1 ? "" : ` (slowest of ${calls} calls)`}`;
}

/** Milliseconds with one decimal place. */
function toMs(seconds: number): number {
  return Math.round(seconds * 10_000) / 10;
}
