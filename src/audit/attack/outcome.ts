import type { Operation } from "../targets/operation.ts";
import type { Expected } from "./expected.ts";
import type { WireResponse } from "./wire.ts";

/** The result of one request: whether the gate let it pass, as far as the response shows. */
export type Outcome =
  | { readonly verdict: "refused" | "let in"; readonly found: string }
  /** There was no object that the gate could decide about, or it was left out. */
  | { readonly verdict: "absent"; readonly found: string }
  /** The response comes from something before the gate. */
  | { readonly verdict: "undecided"; readonly found: string }
  /** The endpoint does not accept such requests at all. */
  | { readonly verdict: "not offered"; readonly found: string };

const BUSY: ReadonlySet<number> = new Set([429, 503]);
const BUSY_CODES: ReadonlySet<string> = new Set(["OVERLOADED", "SERVICE_UNAVAILABLE", "TOO_MANY_REQUESTS"]);

/** Whether the server was too busy to ask the gate, so that the request should be sent again. */
export function isBusy({ verdict, found }: Outcome): boolean {
  return (
    verdict === "undecided" && (BUSY_CODES.has(found) || [...BUSY].some((status) => found.startsWith(`${status}`)))
  );
}

const REFUSALS: ReadonlySet<number> = new Set([401, 403]);
const REFUSAL_CODES: ReadonlySet<unknown> = new Set([
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "SIGN_IN_AGAIN",
  "SECOND_FACTOR_REQUIRED",
]);

/** Judges the response of a route, or the one that refused a socket. */
export function routeOutcome({ status, text }: WireResponse, expected: Expected): Outcome {
  const found = [status, codeIn(text)].filter((part) => part !== null).join(" ");
  if (BUSY.has(status) && status !== expected.status) return { verdict: "undecided", found };
  return { verdict: REFUSALS.has(status) || status === expected.status ? "refused" : "let in", found };
}

/**
 * Judges the response of a handler that declares an object. The object is loaded after the schemas, which may refuse the dummies
 * of the attack, and there may be nothing that has the field.
 */
export function objectOutcome(outcome: Outcome): Outcome {
  const { verdict, found } = outcome;
  const isInvalid = verdict === "let in" && /^4\d\d|^BAD_USER_INPUT$|^GRAPHQL_VALIDATION_FAILED$/.test(found);
  return isInvalid || verdict === "absent" ? { verdict: "undecided", found } : outcome;
}

function codeIn(text: string): string | null {
  try {
    const { code } = JSON.parse(text) as { readonly code?: unknown };
    return typeof code === "string" ? code : null;
  } catch {
    return null;
  }
}

interface GraphError {
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: unknown };
}

/** The body of a GraphQL response. */
export interface GraphBody {
  readonly data?: unknown;
  readonly errors?: readonly GraphError[];
}

/** Reads a GraphQL response, of a batch the one at this index; `null` if the text is not one. */
export function parseGraphBody(text: string, index: number): GraphBody | null {
  try {
    const parsed = JSON.parse(text) as unknown;
    const body = (Array.isArray(parsed) ? parsed[index] : parsed) as GraphBody | null | undefined;
    const isGraph = body?.data !== undefined || Array.isArray(body?.errors);
    return isGraph ? body : null;
  } catch {
    return null;
  }
}

const NOT_OFFERED: ReadonlySet<unknown> = new Set([
  "METHOD_NOT_ALLOWED",
  "UNSUPPORTED_MEDIA_TYPE",
  "NOT_ACCEPTABLE",
  "BATCH_REFUSED",
  "OPERATION_NEEDS_HTTP",
  "OPERATION_NEEDS_SOCKET",
]);

/** Judges a GraphQL response by the error at the path, by an error above it, and by the data at the path. */
export function graphOutcome(
  { data, errors = [] }: GraphBody,
  { path, object }: Operation,
  expected: Expected,
): Outcome {
  const isRefusal = (error: GraphError): boolean =>
    REFUSAL_CODES.has(codeOf(error)) || (expected.code !== undefined && codeOf(error) === expected.code);
  // A request that is refused as a whole has no path.
  const whole = errors.find((error) => error.path === undefined);
  if (whole !== undefined && (data === undefined || data === null)) {
    const found = String(codeOf(whole));
    if (isRefusal(whole)) return { verdict: "refused", found };
    return { verdict: NOT_OFFERED.has(found) ? "not offered" : "undecided", found };
  }
  const own = errors.filter((error) => namesOf(error).join() === path.join());
  const refusal = own.find(isRefusal);
  if (refusal !== undefined) return { verdict: "refused", found: String(codeOf(refusal)) };
  const [failure] = own;
  // An error of the resolver or of a value: the gate had let the request pass.
  if (failure !== undefined) return { verdict: "let in", found: String(codeOf(failure)) };
  const above = errors.find((error) => namesOf(error).length < path.length && isRefusal(error));
  if (above !== undefined)
    return { verdict: "absent", found: `${String(codeOf(above))} at ${namesOf(above).join(".")}` };
  const values = valuesAt(data, path);
  const isThere =
    object === undefined ? path.length === 1 || values.some((value) => value !== null) : values.some(hasName);
  if (isThere) return { verdict: "let in", found: "data" };
  return { verdict: "absent", found: "no data" };
}

function codeOf({ extensions }: GraphError): unknown {
  return extensions?.code ?? "an error";
}

function namesOf({ path = [] }: GraphError): readonly string[] {
  return path.filter((segment) => typeof segment === "string");
}

function hasName(value: unknown): boolean {
  return typeof value === "object" && value !== null && "__typename" in value;
}

/** All values at a path, through lists. */
function valuesAt(data: unknown, [name, ...rest]: readonly string[]): readonly unknown[] {
  if (Array.isArray(data)) return data.flatMap((entry) => valuesAt(entry, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return [data];
  if (typeof data !== "object" || data === null) return [];
  return valuesAt((data as Readonly<Record<string, unknown>>)[name], rest);
}
