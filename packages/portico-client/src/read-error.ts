import { type ErrorEntry, PorticoClientError } from "./portico-client-error.ts";

interface Problem {
  readonly code?: unknown;
  readonly detail?: string;
  readonly parameter?: string;
  readonly correlation_id?: string;
  readonly errors?: readonly ErrorEntry[];
}

/** The body of a GraphQL response. */
export interface GraphQLBody {
  readonly data?: unknown;
  readonly errors?: readonly ErrorEntry[];
  readonly extensions?: { readonly position?: string };
}

/** Reads the error of a response: a problem (RFC 9457), or a rejected GraphQL operation. */
export async function readError(response: Response): Promise<PorticoClientError> {
  const body = (await response.json().catch(() => ({}))) as Problem;
  const { status } = response;
  const retryAfter = secondsOf(response.headers.get("retry-after"));
  if (body.errors?.[0]?.extensions !== undefined) return graphqlError(body, status, retryAfter);
  const { code } = body;
  return new PorticoClientError(body.detail ?? `The server responded with ${status}`, {
    code: typeof code === "string" ? code.toUpperCase() : "UNEXPECTED_RESPONSE",
    status,
    parameter: body.parameter,
    retryAfter,
    correlationId: body.correlation_id,
    errors: body.errors,
  });
}

/** Makes an error of the first error of an operation. */
export function graphqlError(body: GraphQLBody, status = 200, retryAfter?: number): PorticoClientError {
  const [first] = body.errors ?? [];
  const {
    code,
    parameter,
    retryAfter: wait,
    correlationId,
  } = (first?.extensions ?? {}) as Readonly<Record<string, never>>;
  return new PorticoClientError(first?.message ?? "The response has neither data nor errors", {
    code: code ?? "UNEXPECTED_RESPONSE",
    status,
    parameter,
    retryAfter: wait ?? retryAfter,
    correlationId,
    errors: body.errors,
    data: body.data,
  });
}

/** Reads `Retry-After`, which is a number of seconds or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  return Number.isNaN(seconds) ? Math.max(0, Math.ceil((Date.parse(header) - Date.now()) / 1000)) : seconds;
}
