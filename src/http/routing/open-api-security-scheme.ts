/**
 * How a credential is sent, in the terms of OpenAPI 3.1. The application's document lists it, and the operations behind a gate
 * refer to it.
 *
 * @example
 * ```ts
 * import type { OpenAPISecurityScheme } from "portico";
 *
 * const signature: OpenAPISecurityScheme = { type: "apiKey", in: "header", name: "X-Signature", description: "An HMAC of the body." };
 * ```
 */
export type OpenAPISecurityScheme = (
  | { readonly type: "http"; readonly scheme: string; readonly bearerFormat?: string }
  | { readonly type: "apiKey"; readonly in: "header" | "cookie" | "query"; readonly name: string }
  | { readonly type: "openIdConnect"; readonly openIdConnectUrl: string }
  | { readonly type: "mutualTLS" }
) & {
  /** Information for clients. */
  readonly description?: string;
};
