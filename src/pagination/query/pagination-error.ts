import type { ErrorCode } from "../../core/error-codes.ts";
import { PorticoError } from "../../core/portico-error.ts";

/** Details of a pagination error other than its message. */
export interface PaginationErrorOptions {
  /** The name of the invalid query parameter on the strategy. */
  readonly parameter: string;
  /** A more specific code than that of the class. */
  readonly code?: ErrorCode | (string & {});
  readonly cause?: unknown;
}

/**
 * The request for a page is invalid. If it is not handled, the response is 400 with `detail`, `code` and `parameter`.
 * The message never repeats the value that was sent.
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
 * The page number is below 1, the offset is below 0, or the value is not a number.
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

/** The page size is below 1, the limit is below 0, or the value is not a number. */
export class InvalidPageSizeError extends PaginationError {
  override readonly name: string = "InvalidPageSizeError";
  constructor(message: string, options: PaginationErrorOptions) {
    super("INVALID_PAGE_SIZE", message, options);
  }
}

/** The list cannot be sorted this way: a column is not sortable or repeated, or there are no columns or too many. */
export class InvalidSortError extends PaginationError {
  override readonly name: string = "InvalidSortError";
  constructor(message: string, options: PaginationErrorOptions) {
    super("INVALID_SORT", message, options);
  }
}

/** A filter of the list is unknown, or its operator or value is not valid. */
export class InvalidFilterError extends PaginationError {
  override readonly name: string = "InvalidFilterError";
  constructor(message: string, options: PaginationErrorOptions) {
    super("INVALID_FILTER", message, options);
  }
}

/** The cursor is not valid for this list. Every cause has the same message, so that it does not help to forge one. */
export class InvalidCursorError extends PaginationError {
  override readonly name: string = "InvalidCursorError";
  constructor(options: PaginationErrorOptions) {
    super(
      "INVALID_CURSOR",
      `${options.parameter} is not a valid cursor for this list: omit it to start from the first page`,
      options,
    );
  }
}
