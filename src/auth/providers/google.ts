import type { IdentityProvider } from "./identity-provider.ts";
import { oidcProvider } from "./oidc.ts";
import type { ProviderOptions } from "./provider-options.ts";

/**
 * Sign in with Google. The provider is called `google`.
 *
 * @example
 * ```ts
 * import { env } from "portico";
 * import { google } from "portico/auth";
 *
 * const provider = google({ clientId: env("GOOGLE_CLIENT_ID"), clientSecret: env("GOOGLE_CLIENT_SECRET") });
 * ```
 */
export function google(options: ProviderOptions): IdentityProvider {
  return oidcProvider("google", { ...options, name: "google", issuer: "https://accounts.google.com" });
}
