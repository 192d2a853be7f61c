import { flag, optional, resolveOptions, wholeNumber } from "../../core/resolve-options.ts";
import { type Size, size } from "../../core/size.ts";

/** Which requests an endpoint accepts, and the content type of its responses. */
export interface TransportOptions {
  /** Whether queries may use GET. Mutations never may. @default true */
  readonly getQueries?: boolean;
  /** The maximum number of operations in one request; 0 disables batches. @default 10 */
  readonly batch?: number;
  /** Whether `application/graphql-response+json` is offered; else all responses are `application/json`. @default true */
  readonly graphqlContentType?: boolean;
  /**
   * Whether `Content-Type` is the negotiated type. `false` always sends `application/json`, for proxies that reject the other.
   *
   * @default true
   */
  readonly responseContentType?: boolean;
  /**
   * Whether the response to an operation that does not validate, or whose variables don't fit, has the status 200 instead of 400 if it is
   * `application/json`, for clients of servers that did so. `portico audit` warns of it. @default false
   */
  readonly invalidAsOk?: boolean;
  /** The maximum size of a body, except for uploads. @default "1mb" */
  readonly maxBody?: Size;
}

const transportRules = {
  getQueries: optional(flag, true),
  batch: optional(wholeNumber, 10),
  graphqlContentType: optional(flag, true),
  responseContentType: optional(flag, true),
  invalidAsOk: optional(flag, false),
  maxBody: optional(size, 1024 ** 2),
};

/**
 * The transport of an endpoint. An invalid value throws `ConfigurationError`.
 *
 * @example
 * ```ts
 * import { Transport } from "portico/graphql";
 *
 * export const transport = new Transport({ getQueries: false, maxBody: "256kb" });
 * ```
 */
export class Transport implements Required<TransportOptions> {
  readonly getQueries: boolean;
  readonly batch: number;
  readonly graphqlContentType: boolean;
  readonly responseContentType: boolean;
  readonly invalidAsOk: boolean;
  /** In bytes. */
  readonly maxBody: number;

  constructor(options: TransportOptions = {}) {
    const resolved = resolveOptions("Transport", options, transportRules);
    this.getQueries = resolved.getQueries;
    this.batch = resolved.batch;
    this.graphqlContentType = resolved.graphqlContentType;
    this.responseContentType = resolved.responseContentType;
    this.invalidAsOk = resolved.invalidAsOk;
    this.maxBody = resolved.maxBody;
  }

  /** Accepts a plain object with the same options too. */
  static from(value: Transport | TransportOptions): Transport {
    return value instanceof Transport ? value : new Transport(value);
  }
}
