import { flag, optional, resolveOptions, wholeNumber } from "../../core/resolve-options.ts";
import { type Size, size } from "../../core/size.ts";

/** How requests may come in and how answers are labelled. */
export interface TransportOptions {
  /** Whether queries may come by GET; mutations never may. @default true */
  readonly getQueries?: boolean;
  /** The most operations in one request; 0 refuses batches. @default 10 */
  readonly batch?: number;
  /** Whether `application/graphql-response+json` is negotiated; else every answer is `application/json`. @default true */
  readonly graphqlContentType?: boolean;
  /** Whether an answer is labelled with what was negotiated; else it says `application/json`, for proxies that refuse the other. @default true */
  readonly responseContentType?: boolean;
  /** The largest body, multipart aside. @default "1mb" */
  readonly maxBody?: Size;
}

const transportRules = {
  getQueries: optional(flag, true),
  batch: optional(wholeNumber, 10),
  graphqlContentType: optional(flag, true),
  responseContentType: optional(flag, true),
  maxBody: optional(size, 1024 ** 2),
};

/**
 * The transport of an endpoint. A wrong value throws `ConfigurationError` here.
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
  /** In bytes. */
  readonly maxBody: number;

  constructor(options: TransportOptions = {}) {
    const resolved = resolveOptions("Transport", options, transportRules);
    this.getQueries = resolved.getQueries;
    this.batch = resolved.batch;
    this.graphqlContentType = resolved.graphqlContentType;
    this.responseContentType = resolved.responseContentType;
    this.maxBody = resolved.maxBody;
  }

  /** Takes a plain object of the same shape too. */
  static from(value: Transport | TransportOptions): Transport {
    return value instanceof Transport ? value : new Transport(value);
  }
}
