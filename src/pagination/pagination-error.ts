import type { ErrorCode } from "../core/error-codes.ts";
import { PorticoError } from "../core/portico-error.ts";

/** What a pagination error carries beside its sentence. */
export interface PaginationErrorOptions {
  /** The query parameter that is to blame, by the name it has on the strategy. */
  readonly parameter: string;
  /** Finer than the class, where there is more to tell. */
  readonly code?: ErrorCode | (string & {});
  readonly cause?: unknown;
}

/**
 * A page that cannot be asked for so. Unhandled, it is answered 400 with `detail`, `code` and `parameter`; the sentence
 * never repeats what was sent.
 */
export abstract class PaginationError extends PorticoError {
  override readonly name: string = "PaginationError";
  readonly parameter: string;

  constructor(code: ErrorCode | (string & {}), message: string, options: PaginationErrorOptions) {
    super(options.code ?? code, message, { status: 400, ...("cause" in options ? { cause: options.cause } : {}) });
    this.parameter = options.parameter;
  }

  override get members(): Readonly<Record<string, unknown>> {
    return { parameter: this.parameter };
  }
}

/**
 * A page number below 1, an offset below 0, or something that is no number at all.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { InvalidPageError } from "portico/pagination";
 *
 * new PorticoApp().addExceptionHandler(InvalidPageError, (_request, response, exc) =>
 *   response.status(400).json({ detail: exc.message }),
 * );
 * ```
 */
export class InvalidPageError extends PaginationError {
  override readonly name: string = "InvalidPageError";
  constructor(message: string, options: PaginationErrorOptions) {
    super("INVALID_PAGE", message, options);
  }
}

/** A page size below 1, a limit below 0, or something that is no number at all. */
export class InvalidPageSizeError extends PaginationError {
  override readonly name: string = "InvalidPageSizeError";
  constructor(message: string, options: PaginationErrorOptions) {
    super("INVALID_PAGE_SIZE", message, options);
  }
}

/** An order that this list cannot be in: a column that is not offered, or twice the same, or none, or too many. */
export class InvalidSortError extends PaginationError {
  override readonly name: string = "InvalidSortError";
  constructor(message: string, options: PaginationErrorOptions) {
    super("INVALID_SORT", message, options);
  }
}

/** A cursor that this list did not give. One sentence for every cause: it must not teach how to forge one. */
export class InvalidCursorError extends PaginationError {
  override readonly name: string = "InvalidCursorError";
  constructor(options: PaginationErrorOptions) {
    super("INVALID_CURSOR", `${options.parameter} is not a cursor of this list: leave it out to start again`, options);
  }
}
