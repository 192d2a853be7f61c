import { describeError, isInstance, loggable } from "../describe-error.ts";
import { shorten } from "../shorten.ts";

/**
 * Serializes an error for the log: its type, message, stack, causes and error codes. All other properties are left out, because
 * database drivers put statements with their values there, and HTTP clients the headers of their requests. Portico's own logger
 * uses it. Pass it to your own pino logger.
 *
 * @example
 * ```ts
 * import { errorSerializer, PorticoApp } from "portico";
 *
 * declare function pino(options: { serializers: { err: (error: unknown) => unknown } }): never;
 *
 * new PorticoApp({ logger: pino({ serializers: { err: errorSerializer } }) });
 * ```
 */
export function errorSerializer(error: unknown): unknown {
  try {
    return serialized(loggable(error));
  } catch {
    return { type: "Error", message: describeError(error) };
  }
}

function serialized(error: unknown): unknown {
  if (typeof error === "string") return shorten(error, MAX_CHARACTERS);
  if (!isInstance(error, Error)) return error;
  const chain = causesOf(error);
  const codes = Object.fromEntries(
    CODES.map((name): [string, unknown] => [name, Reflect.get(error, name)]).filter(([, value]) => isPlain(value)),
  );
  return {
    type: error.constructor?.name ?? error.name,
    message: chain.map(({ message }) => shorten(message, MAX_CHARACTERS)).join(": "),
    stack: chain.map(stackOf).join("\ncaused by: "),
    ...codes,
    ...(isInstance(error, AggregateError) ? { errors: error.errors.slice(0, MAX_ERRORS).map(errorSerializer) } : {}),
  };
}

/** Names of codes and places, as Node, drivers and Portico use them. None of them contains user input. */
const CODES = [
  "code",
  "status",
  "statusCode",
  "errno",
  "syscall",
  "address",
  "port",
  "sqlState",
  "severity",
  "schema",
  "table",
  "column",
  "constraint",
  "option",
  "scope",
  "topic",
  "docs",
] as const;
const MAX_ERRORS = 10;
const MAX_CAUSES = 5;
const MAX_CHARACTERS = 1_000;

/** The message in the stack is shortened as well, because it may repeat user input. */
function stackOf({ name, message, stack = "" }: Error): string {
  const frames = stack.indexOf("\n    at ");
  return `${name}: ${shorten(message, MAX_CHARACTERS)}${frames === -1 ? "" : stack.slice(frames)}`;
}

function causesOf(error: Error): readonly Error[] {
  const chain: Error[] = [];
  for (
    let at: unknown = error;
    isInstance(at, Error) && chain.length < MAX_CAUSES && !chain.includes(at);
    at = at.cause
  )
    chain.push(at);
  return chain;
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
