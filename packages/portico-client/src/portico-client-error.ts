import type { ErrorCode } from "./error-code.ts";

/** One of several errors in a response: an issue of a validation, or an error of a GraphQL operation. */
export interface ErrorEntry {
  readonly message: string;
  /** The path of the invalid value, or of the GraphQL field. */
  readonly path?: readonly (string | number)[];
  /** Where the invalid value is: `path`, `query` or `body`. */
  readonly in?: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The values of a `PorticoClientError`. */
export interface ErrorValues {
  readonly code: ErrorCode;
  readonly status: number;
  readonly parameter?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly correlationId?: string | undefined;
  readonly errors?: readonly ErrorEntry[] | undefined;
  readonly data?: unknown;
  readonly cause?: unknown;
}

/**
 * A request that failed. An aborted request rejects with the reason of its signal instead.
 *
 * @example
 * ```ts
 * import { createClient, PorticoClientError } from "portico-client";
 *
 * const client = createClient({ url: "https://shop.example" });
 * try {
 *   await client.post("/orders", { body: { book: "book-1" } });
 * } catch (error) {
 *   if (!(error instanceof PorticoClientError)) throw error;
 *   if (error.code === "RATE_LIMITED") console.log(`Try again in ${error.retryAfter} s.`);
 * }
 * ```
 */
export class PorticoClientError extends Error {
  override readonly name: string = "PorticoClientError";
  /** The code in upper case, for REST as for GraphQL. */
  readonly code: ErrorCode;
  /** The status of the HTTP response; 0 if there was none. */
  readonly status: number;
  /** The query parameter that is invalid. */
  readonly parameter: string | undefined;
  /** The number of seconds after which the request may be repeated. */
  readonly retryAfter: number | undefined;
  /** The id of the line in the server's log. */
  readonly correlationId: string | undefined;
  /** The issues of a validation, or all errors of a GraphQL operation. */
  readonly errors: readonly ErrorEntry[];
  /** The data of a GraphQL operation, if some of its fields were resolved. */
  readonly data: unknown;

  constructor(detail: string, values: ErrorValues) {
    super(detail, { cause: values.cause });
    this.code = values.code;
    this.status = values.status;
    this.parameter = values.parameter;
    this.retryAfter = values.retryAfter;
    this.correlationId = values.correlationId;
    this.errors = values.errors ?? [];
    this.data = values.data;
  }

  /** The explanation for people. The same text is the `message`. */
  get detail(): string {
    return this.message;
  }
}
