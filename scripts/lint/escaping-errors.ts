/** The only file that may look into a value of which nothing is known but that it was thrown. */
const READER = "src/core/describe-error.ts";

const ERROR_NAME = /^(?:err|error|exc|exception|cause|reason|thrown|failure|rejection|problem)$/;

/** Whether a parameter receives a thrown value, by its name and its type. */
export function isUnknownName(name: string | undefined, annotation: string | undefined): boolean {
  return annotation === "TSUnknownKeyword" && ERROR_NAME.test(name ?? "");
}

const INSTEAD = {
  instanceof: "`instanceof` throws for some values: use isInstance()",
  String: "String() throws for an object without a prototype: use describeError() or toError()",
  template: "a template throws for an object without a prototype: use describeError()",
  err: "a logger throws for a value that cannot be serialized: use loggable()",
} as const;

/** The fault of a use of a caught value; `undefined` where it is allowed. */
export function caughtFault(file: string, use: keyof typeof INSTEAD): string | undefined {
  if (!file.startsWith("src/") || file === READER) return undefined;
  return `anything can be thrown, and ${INSTEAD[use]} from ${READER}`;
}

/** The fault of `void call()`, by the method that it calls; `undefined` if its rejection is handled. */
export function droppedFault(file: string, method: string | undefined, count: number): string | undefined {
  if (!file.startsWith("src/") || method === "catch" || (method === "then" && count === 2)) return undefined;
  return "`void call()` lets a rejection end the process: pass the promise to inBackground(), handle its rejection, or write a call that returns no promise as a statement";
}
