/**
 * How a credential is sent, in the words of OpenAPI 3.1: the document of the application lists it, and the operations behind
 * a gate name it.
 *
 * @example
 * ```ts
 * import type { OpenApiSecurityScheme } from "portico";
 *
 * const signature: OpenApiSecurityScheme = { type: "apiKey", in: "header", name: "X-Signature", description: "An HMAC of the body." };
 * ```
 */
export type OpenApiSecurityScheme = (
  | { readonly type: "http"; readonly scheme: string; readonly bearerFormat?: string }
  | { readonly type: "apiKey"; readonly in: "header" | "cookie" | "query"; readonly name: string }
  | { readonly type: "openIdConnect"; readonly openIdConnectUrl: string }
  | { readonly type: "mutualTLS" }
) & {
  /** What a client has to know of it. */
  readonly description?: string;
};
