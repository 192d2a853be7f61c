import type { ErrorCode } from "./error-codes.ts";

/** What an error carries beside its code and its sentence. */
export interface PorticoErrorOptions {
  /** The HTTP status of the answer when nobody handles the error. @default 500 */
  readonly status?: number;
  /** Headers of that answer, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What went wrong underneath: kept for the log, never sent. */
  readonly cause?: unknown;
}

/**
 * The base of every error of Portico: a code to switch on, a status, and a sentence that names the culprit.
 *
 * The codes are listed in `docs/errors.md`; an application's own subclasses may use codes of their own.
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
  /** What happened, in capitals: GraphQL clients read it as it stands, REST clients in lower case. */
  readonly code: ErrorCode | (string & {});
  /** The HTTP status that says the same. */
  readonly status: number;
  /** Headers that belong to the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode | (string & {}), message: string, options: PorticoErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.status = options.status ?? 500;
    this.headers = options.headers ?? {};
  }

  /** What the body of the answer says beside status, code and sentence. */
  get members(): Readonly<Record<string, unknown>> {
    return {};
  }
}
