import { docsAddress } from "./advice/docs-address.ts";
import { type ErrorCode, errorCodes } from "./error-codes.ts";

/** The options of an error besides its code and message. */
export interface PorticoErrorOptions {
  /** The HTTP status of the response if the error is not handled. @default 500 */
  readonly status?: number;
  /** The headers of that response, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The underlying error. It is logged but never sent. */
  readonly cause?: unknown;
}

/**
 * The base class of every error in Portico: a code to match on, a status, and a message that names the cause.
 *
 * The codes are listed in `docs/errors.md`. Your own subclasses may use their own codes.
 *
 * @example
 * ```ts
 * import { PorticoError } from "portico";
 *
 * class OutOfStock extends PorticoError {
 *   constructor(title: string) {
 *     super("OUT_OF_STOCK", `${title} is out of stock`, { status: 409 });
 *   }
 * }
 * ```
 */
export class PorticoError extends Error {
  override readonly name: string = "PorticoError";
  /** The error code in capitals. GraphQL clients receive it as it is, REST clients in lower case. */
  readonly code: ErrorCode | (string & {});
  /** The matching HTTP status. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address of the documentation about the error, if it is one of Portico's for developers: its status is 500 or more. */
  declare readonly docs?: string;

  constructor(code: ErrorCode | (string & {}), message: string, options: PorticoErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.status = options.status ?? 500;
    this.headers = options.headers ?? {};
    // An option that is wrong has its own section: see ConfigurationError.
    const isExplained = this.status >= 500 && code !== "CONFIGURATION_INVALID" && Object.hasOwn(errorCodes, code);
    if (isExplained) this.docs = docsAddress(`errors.md#${code}`);
  }

  /** Additional members of the response body, besides status, code and message. */
  get members(): Readonly<Record<string, unknown>> {
    return {};
  }
}
