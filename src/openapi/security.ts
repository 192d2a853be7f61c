import type { Gate } from "../http/identity.ts";
import type { OpenApiSecurityRequirement, OpenApiSecurityScheme } from "./open-api-document.ts";

/** The ways of signing in that OpenAPI has words for, by the scope string of their backend. */
export const securitySchemes: { readonly [scope: string]: OpenApiSecurityScheme } = {
  jwt: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  session: { type: "apiKey", in: "cookie", name: "__Host-portico_session" },
  apikey: { type: "apiKey", in: "header", name: "X-API-Key" },
};

/**
 * Which schemes open a gate; a gate without scopes takes any of them. A scope of the application's own says nothing
 * about how it is sent, so it is left out.
 */
export function securityRequirements({ scopes, required }: Gate): readonly OpenApiSecurityRequirement[] {
  const known = Object.keys(securitySchemes).filter(
    (scheme) => scopes.length === 0 || (scopes as readonly string[]).includes(scheme),
  );
  if (known.length === 0) return [];
  return [...known.map((scheme) => ({ [scheme]: [] })), ...(required ? [] : [{}])];
}
