/**
 * The only file that looks into a value of which nothing is known but that it was thrown. A getter of it can throw, it may have no
 * prototype, and for a proxy even `instanceof` throws. The functions of this file never throw.
 */

/** `instanceof` for a thrown value: `false` if the value, or a property of the error that it is, cannot be read. */
export function isInstance<T>(thrown: unknown, type: abstract new (...args: never) => T): thrown is T {
  try {
    return thrown instanceof type && (!(thrown instanceof Error) || isReadable(thrown));
  } catch {
    return false;
  }
}

/** An error for a thrown value: the value itself if it is an `Error` that can be read. */
export function toError(thrown: unknown): Error {
  return isInstance(thrown, Error) ? thrown : new Error(describeError(thrown));
}

/** The sentence for a thrown value, for a message or a log. */
export function describeError(thrown: unknown): string {
  if (isInstance(thrown, Error)) return thrown.message;
  if (typeof thrown === "function") return "a function was thrown";
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  return "an object was thrown that is not an Error, or cannot be read";
}

/**
 * The form of a thrown value that every logger can serialize: an `Error` that can be read, a primitive value, or an object that
 * JSON can represent. For any other value, an error that describes it.
 */
export function loggable(thrown: unknown): unknown {
  if (isInstance(thrown, Error)) return hasReadableCauses(thrown) ? thrown : withoutCause(thrown);
  if (typeof thrown !== "object" || thrown === null) return typeof thrown === "function" ? toError(thrown) : thrown;
  try {
    return !(thrown instanceof Error) && JSON.stringify(thrown).length <= MAX_CHARACTERS ? thrown : toError(thrown);
  } catch {
    return toError(thrown);
  }
}

const MAX_CHARACTERS = 10_000;
const MAX_CAUSES = 10;

function hasReadableCauses(error: Error): boolean {
  let { cause } = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof cause === "object" && cause !== null; depth++) {
    if (!isInstance(cause, Error)) return loggable(cause) === cause;
    ({ cause } = cause);
  }
  return true;
}

function withoutCause({ name, message, stack }: Error): Error {
  return Object.assign(new Error(message), { name, ...(stack === undefined ? {} : { stack }) });
}

/** The getter that V8 gives every error, which computes the text of the stack when it is first called. */
// oxlint-disable-next-line typescript/unbound-method -- it is compared, not called
const STACK = Object.getOwnPropertyDescriptor(new Error(), "stack")?.get;

/** The properties that Portico, graphql and loggers read. */
const READ = [
  "cause",
  "code",
  "status",
  "headers",
  "extensions",
  "path",
  "nodes",
  "source",
  "positions",
  "constructor",
  Symbol.toStringTag,
] as const;

/** Throws if a getter does. */
function isReadable(error: Error): boolean {
  const { name, message } = error;
  for (const property of READ) Reflect.get(error, property);
  const stack = Object.getOwnPropertyDescriptor(error, "stack");
  // The engine's own getter is not called, because the text of a stack costs more than all the rest.
  const isStackText = stack === undefined || stack.get === STACK || typeof error.stack === "string";
  return typeof name === "string" && typeof message === "string" && isStackText;
}
