import type { Configuration } from "openid-client";
import { type Complete, oneOf, optional, optionRule, required, strict } from "../../core/resolve-options.ts";
import { Discovery } from "./discovery.ts";
import {
  IdentityProvider,
  type LogoutNotice,
  type ProviderAccount,
  type ProviderServices,
  type SignInSecrets,
} from "./identity-provider.ts";
import { LogoutTokens } from "./logout-tokens.ts";
import {
  isInsecure,
  type ProviderOptions,
  providerName,
  resolveProviderOptions,
  serverUrl,
} from "./provider-options.ts";
import { openIDClient, providerFetch, reachProvider } from "./reach-provider.ts";

/** The options of `oidc`. */
export interface OIDCOptions extends ProviderOptions {
  /** The name in URLs: `/account/providers/acme`. Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** The issuer, as the provider's metadata spells it: an https URL, or an http URL on a loopback address. */
  readonly issuer: string;
  /** The scopes to request. @default "openid email" */
  readonly scope?: string;
  /** How to send the client secret. @default "client_secret_basic", unless the provider's metadata leaves it out */
  readonly clientAuthentication?: "client_secret_basic" | "client_secret_post";
}

/**
 * A provider that supports OpenID Connect: authorization code with PKCE, discovery, and back-channel logout. It needs
 * the package `openid-client`.
 *
 * @example
 * ```ts
 * import { env } from "portico";
 * import { oidc } from "portico/auth";
 *
 * const acme = oidc({
 *   name: "acme",
 *   issuer: "https://login.acme.com",
 *   clientId: env("ACME_CLIENT_ID"),
 *   clientSecret: env("ACME_CLIENT_SECRET"),
 *   domains: ["acme.com"],
 * });
 * ```
 */
export function oidc(options: OIDCOptions): IdentityProvider {
  return oidcProvider("oidc", options);
}

/** @param owner the function that errors name */
export function oidcProvider(owner: string, options: OIDCOptions): IdentityProvider {
  return new OIDCProvider(resolveProviderOptions(owner, options, rules));
}

type ResolvedOIDC = Complete<OIDCOptions, "clientAuthentication">;

class OIDCProvider extends IdentityProvider {
  readonly #options: ResolvedOIDC;
  readonly #discovery = new Discovery(() => discover(this.#options));
  readonly #logoutTokens: LogoutTokens;

  constructor(options: ResolvedOIDC) {
    super(options.name, options);
    this.#options = options;
    this.#logoutTokens = new LogoutTokens(options.clientId);
  }

  async authorizationUrl(services: ProviderServices, secrets: SignInSecrets): Promise<URL> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await openIDClient();
    return buildAuthorizationUrl(await this.#configuration(services), {
      redirect_uri: secrets.redirectUri,
      scope: this.#options.scope,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: "S256",
    });
  }

  async accountOf(services: ProviderServices, callback: URL, secrets: SignInSecrets): Promise<ProviderAccount> {
    const { authorizationCodeGrant, fetchUserInfo } = await openIDClient();
    const configuration = await this.#configuration(services);
    return reachProvider(services, this.name, async () => {
      const tokens = await authorizationCodeGrant(configuration, callback, {
        expectedState: secrets.state,
        expectedNonce: secrets.nonce,
        pkceCodeVerifier: secrets.verifier,
      });
      const claims = tokens.claims();
      // All accounts without a subject would be one account.
      if (claims === undefined || claims.sub === "") throw new Error("the response has no id_token with a subject");
      const { iss, sub, sid } = claims;
      // The address and whether it is verified come from one source, so that the two belong together.
      const isUserInfoNeeded =
        claims["email"] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
      const about = isUserInfoNeeded ? await fetchUserInfo(configuration, tokens.access_token, sub) : claims;
      return {
        issuer: iss,
        subject: sub,
        email: typeof about["email"] === "string" ? about["email"] : undefined,
        isEmailVerified: about["email_verified"] === true,
        sid: typeof sid === "string" ? sid : undefined,
      };
    });
  }

  async logoutNotice(services: ProviderServices, token: string): Promise<LogoutNotice> {
    const configuration = await this.#configuration(services);
    return this.#logoutTokens.read(services, configuration.serverMetadata(), token);
  }

  /** Every failure to fetch valid metadata is an outage: no user can sign in without them. */
  #configuration(services: ProviderServices): Promise<Configuration> {
    return reachProvider(services, this.name, () => this.#discovery.configuration(services), true);
  }
}

async function discover(options: ResolvedOIDC): Promise<Configuration> {
  const { issuer, clientId, clientSecret, clientAuthentication, timeoutSeconds } = options;
  const client = await openIDClient();
  const configuration = await client.discovery(
    new URL(issuer),
    clientId,
    clientSecret,
    (server, metadata, body, headers) => {
      const methods = server.token_endpoint_auth_methods_supported;
      const method =
        clientAuthentication ??
        (methods?.includes("client_secret_basic") === false ? "client_secret_post" : "client_secret_basic");
      const authenticate = method === "client_secret_post" ? client.ClientSecretPost : client.ClientSecretBasic;
      authenticate(clientSecret)(server, metadata, body, headers);
    },
    {
      timeout: timeoutSeconds,
      [client.customFetch]: providerFetch,
      execute: [client.enableNonRepudiationChecks, ...(isInsecure(issuer) ? [client.allowInsecureRequests] : [])],
    },
  );
  const { jwks_uri, authorization_endpoint, token_endpoint } = configuration.serverMetadata();
  for (const [member, value] of Object.entries({ jwks_uri, authorization_endpoint, token_endpoint }))
    if (typeof value !== "string") throw new Error(`the metadata of the provider have no ${member}`);
  return configuration;
}

const rules = {
  name: required(strict(providerName)),
  issuer: required(strict(serverUrl)),
  scope: optional(
    optionRule<string>('scopes separated by spaces, among them "openid"', (value) => {
      return typeof value === "string" && value.split(" ").includes("openid");
    }),
    "openid email",
  ),
  clientAuthentication: oneOf("client_secret_basic", "client_secret_post"),
};
