import type { ExecutionResult, GraphQLError } from "graphql";

/** The parts of a result that have to be equal: data with the order of its keys, and the errors. */
export interface Seen {
  readonly data: string;
  readonly errors: readonly string[];
}

/** The result with message, path, locations and extensions of its errors, in their order. */
export function seen({ data, errors = [] }: ExecutionResult): Seen {
  const print = ({ message, path, locations, extensions }: GraphQLError): string =>
    printed([message, path, locations, extensions]);
  return { data: printed(data), errors: errors.map(print) };
}

/**
 * The result with the positions that errors made null. If several promises reject in the same turn, an object becomes null with
 * the first error that reaches it, and graphql drops the errors below it that come later.
 */
export function withoutRaces({ data, errors = [] }: ExecutionResult): Seen {
  const positions = errors.map(({ path = [] }) => printed(nullIn(data, path)));
  return { data: printed(data), errors: [...new Set(positions)].toSorted() };
}

/** Whether an error made more than its own field null. */
export function hasPropagated({ data, errors = [] }: ExecutionResult): boolean {
  return errors.some(({ path = [] }) => nullIn(data, path).length < path.length);
}

function printed(value: unknown): string {
  const print = (_key: string, part: unknown): unknown => (typeof part === "bigint" ? `${part}n` : part);
  return JSON.stringify(value, print) ?? "undefined";
}

/** The beginning of a path up to the first null. */
function nullIn(data: unknown, path: readonly (string | number)[]): readonly (string | number)[] {
  let at = data;
  for (const [index, key] of path.entries()) {
    if (at === null || at === undefined) return path.slice(0, index);
    at = (at as Record<string | number, unknown>)[key];
  }
  return path;
}
