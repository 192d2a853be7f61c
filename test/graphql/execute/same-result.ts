import type { ExecutionResult, GraphQLError } from "graphql";

/** The parts of a result that have to be equal: data with the order of its keys, and the errors. */
export interface Seen {
  readonly data: string;
  readonly errors: readonly string[];
}

/** The result with message, path, locations and extensions of its errors, in their order. */
export function seen({ data, errors = [] }: ExecutionResult): Seen {
  return { data: printed(data), errors: errors.map(printError) };
}

/** Whether data and errors are the same, with the order of keys and errors. */
export function isSame(one: ExecutionResult, other: ExecutionResult): boolean {
  const [a, b] = [seen(one), seen(other)];
  return a.data === b.data && a.errors.join("\n") === b.errors.join("\n");
}

/**
 * The errors that only one of two results has because promises raced; `null` if the results differ otherwise.
 *
 * If several promises settle in the same turn, an object becomes null with the first error that reaches it, and graphql drops
 * the errors below it that come later. The number of promise callbacks between a promise and the object decides which error is
 * first, and an async function around a resolver changes that number. It also decides the order of the errors. Data, the
 * positions that errors make null, and errors that make only their own field null do not depend on it.
 */
export function racedErrors(one: ExecutionResult, other: ExecutionResult): readonly string[] | null {
  const [ours, theirs] = [errorsByPosition(one), errorsByPosition(other)];
  if (printed(one.data) !== printed(other.data) || ours.size !== theirs.size) return null;
  const raced: string[] = [];
  for (const [position, here] of ours) {
    const there = theirs.get(position);
    if (there === undefined) return null;
    const different = [...here.errors.symmetricDifference(there.errors)];
    if (different.length > 0 && here.isOwn && there.isOwn) return null;
    raced.push(...different);
  }
  return raced;
}

interface PositionErrors {
  readonly errors: ReadonlySet<string>;
  /** Whether the field itself failed, and nothing below it. */
  readonly isOwn: boolean;
}

/** The errors by the position that they made null. */
function errorsByPosition({ data, errors = [] }: ExecutionResult): ReadonlyMap<string, PositionErrors> {
  const byPosition = Map.groupBy(errors, ({ path = [] }) => printed(nullIn(data, path)));
  const entries = [...byPosition].map(([position, all]) => {
    const isOwn = all.every(({ path = [] }) => printed(path) === position);
    return [position, { errors: new Set(all.map(printError)), isOwn }] as const;
  });
  return new Map(entries);
}

/** Whether an error made more than its own field null. */
export function hasPropagated({ data, errors = [] }: ExecutionResult): boolean {
  return errors.some(({ path = [] }) => nullIn(data, path).length < path.length);
}

function printError({ message, path, locations, extensions }: GraphQLError): string {
  // Portico reads nothing of a thrown function, because it may be a proxy.
  const text = message.replace(/^Unexpected error value: \[function.*\]$/, "a function was thrown");
  return printed([text, path, locations, extensions]);
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
