import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ErrorCode } from "../../core/error-codes.ts";
import { nodeHttp } from "../../core/node-http.ts";
import { PorticoError, type PorticoErrorOptions } from "../../core/portico-error.ts";
import { shorten } from "../../core/shorten.ts";
import { listIssues } from "./list-issues.ts";

/** The maximum number of characters of a header that a message repeats. */
const MAX_REPEATED = 100;

/** The options of an HTTP exception besides its status and message. */
export interface HttpExceptionOptions extends Omit<PorticoErrorOptions, "status"> {
  /** @default derived from the status, such as `NOT_FOUND` */
  readonly code?: ErrorCode | (string & {});
  /**
   * More members of the body, besides status, code and message: `{ errors }`. A GraphQL client receives them as extensions.
   * @default none
   */
  readonly members?: Readonly<Record<string, unknown>>;
}

/**
 * An error that becomes a response. Thrown anywhere below a route, it is sent with its status and an `application/problem+json`
 * body whose `detail` is the message. Other errors never send their message. A status below 400 throws a `RangeError`, because
 * a success is returned, not thrown.
 *
 * @example
 * ```ts
 * import { HttpException, PorticoApp } from "portico";
 *
 * const app = new PorticoApp();
 * app.get("/tea", () => {
 *   throw new HttpException(418, "this is a teapot", { code: "TEAPOT" });
 * });
 * ```
 */
export class HttpException extends PorticoError {
  override readonly name: string = "HttpException";
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, options: HttpExceptionOptions = {}) {
    if (!(status >= 400))
      throw new RangeError(
        `the status of an HttpException must be 400 or above, received ${status}: use response.status() for a success`,
      );
    super(options.code ?? codeOf(status), message, {
      ...options,
      status,
    });
    this.#members = options.members ?? {};
  }

  override get members(): Readonly<Record<string, unknown>> {
    return this.#members;
  }
}

/** Statuses whose name differs from their code. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: "UNAUTHENTICATED",
  422: "VALIDATION_FAILED",
  429: "RATE_LIMITED",
};

/** The name of the status in capitals: 404 is `NOT_FOUND`. */
function codeOf(status: number): string {
  return CODES[status] ?? (nodeHttp.STATUS_CODES[status] ?? "ERROR").toUpperCase().replace(/[^A-Z]+/g, "_");
}

/** 400: the request is invalid. */
export class BadRequest extends HttpException {
  override readonly name: string = "BadRequest";
  constructor(message: string, options: HttpExceptionOptions = {}) {
    super(400, message, options);
  }
}

/** 400: the body is declared as JSON but is not valid JSON. */
export class BodyNotJSON extends HttpException {
  override readonly name: string = "BodyNotJSON";
  constructor() {
    super(400, "The body is not valid JSON", { code: "BODY_NOT_JSON" });
  }
}

/** 400: the body is declared as a form but cannot be parsed as one. */
export class BodyNotForm extends HttpException {
  override readonly name: string = "BodyNotForm";
  constructor() {
    super(400, "The body could not be parsed as the form type in Content-Type", { code: "BODY_NOT_FORM" });
  }
}

/** 400: the client disconnected while it sent the body. */
export class BodyIncomplete extends HttpException {
  override readonly name: string = "BodyIncomplete";
  constructor(options: { readonly cause?: unknown } = {}) {
    super(400, "The body ended before it was complete", { ...options, code: "BODY_INCOMPLETE" });
  }
}

/** 403: a browser sent the request from an origin that is not listed in the app's `origins`. */
export class OriginRefused extends HttpException {
  override readonly name: string = "OriginRefused";
  constructor(origin: string) {
    super(403, `The origin ${shorten(origin, MAX_REPEATED)} is not allowed`, { code: "ORIGIN_REFUSED" });
  }
}

/** 404: the resource does not exist. */
export class NotFound extends HttpException {
  override readonly name: string = "NotFound";
  constructor(message = "Not found", options: HttpExceptionOptions = {}) {
    super(404, message, options);
  }
}

/** 405: the path exists, but not with this method. `Allow` lists the methods that do. */
export class MethodNotAllowed extends HttpException {
  override readonly name: string = "MethodNotAllowed";
  constructor(method: string, allowed: readonly string[]) {
    super(405, `${method} is not allowed here`, { headers: { allow: allowed.join(", ") } });
  }
}

/** 409: the request conflicts with the current state. */
export class Conflict extends HttpException {
  override readonly name: string = "Conflict";
  constructor(message: string, options: HttpExceptionOptions = {}) {
    super(409, message, options);
  }
}

/** 413: the body is larger than this route accepts. */
export class PayloadTooLarge extends HttpException {
  override readonly name: string = "PayloadTooLarge";
  constructor(limitBytes: number) {
    super(413, `The body is larger than ${limitBytes} bytes`);
  }
}

/** 415: this route does not accept the body's content type. */
export class UnsupportedMediaType extends HttpException {
  override readonly name: string = "UnsupportedMediaType";
  constructor(received: string | undefined, expected: string) {
    super(415, `The body must be ${expected}, but its Content-Type is ${shorten(received ?? "missing", MAX_REPEATED)}`);
  }
}

/** One issue that a schema reported, and where. */
export interface ValidationIssue {
  readonly in: "path" | "query" | "body";
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * 422: the path, query or body does not match its schema. The response contains `issues` as `errors`: the first hundred, then
 * one with the number of the others.
 */
export class ValidationFailed extends HttpException {
  override readonly name: string = "ValidationFailed";
  readonly issues: readonly ValidationIssue[];

  constructor(part: ValidationIssue["in"], issues: readonly StandardSchemaV1.Issue[]) {
    super(422, `The ${part} does not match its schema`);
    this.issues = listIssues(part, issues);
  }

  override get members(): Readonly<Record<string, unknown>> {
    return { errors: this.issues };
  }
}

/** 429: too many attempts. `retry-after` is in seconds. */
export class TooManyRequests extends HttpException {
  override readonly name: string = "TooManyRequests";
  constructor(retryAfterSeconds: number, options: HttpExceptionOptions = {}) {
    const headers = { ...options.headers, "retry-after": String(retryAfterSeconds) };
    super(429, `Too many attempts, retry in ${retryAfterSeconds} s`, { ...options, headers });
  }
}

/** 503: temporarily unavailable. `retry-after` is in seconds. */
export class ServiceUnavailable extends HttpException {
  override readonly name: string = "ServiceUnavailable";
  constructor(message: string, options: HttpExceptionOptions & { readonly retryAfterSeconds?: number } = {}) {
    const headers = { ...options.headers, "retry-after": String(options.retryAfterSeconds ?? 1) };
    super(503, message, { ...options, headers });
  }
}
