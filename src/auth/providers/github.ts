import type { Configuration } from "openid-client";
import { type Complete, optional } from "../../core/resolve-options.ts";
import { NotFound } from "../../kernel/exceptions/http-exception.ts";
import {
  IdentityProvider,
  type LogoutNotice,
  type ProviderAccount,
  type ProviderServices,
  type SignInSecrets,
} from "./identity-provider.ts";
import { isInsecure, type ProviderOptions, resolveProviderOptions, serverUrl } from "./provider-options.ts";
import { openIDClient, providerFetch, reachProvider } from "./reach-provider.ts";

/** The options of `github`. */
export interface GitHubOptions extends ProviderOptions {
  /** The URL of a GitHub Enterprise Server. @default "https://github.com" */
  readonly url?: string;
}

/**
 * Sign in with GitHub, which uses OAuth 2 without OpenID Connect. The provider is called `github`. The email address is
 * the primary one, if the person has verified it.
 *
 * @example
 * ```ts
 * import { env } from "portico";
 * import { github } from "portico/auth";
 *
 * const provider = github({ clientId: env("GITHUB_CLIENT_ID"), clientSecret: env("GITHUB_CLIENT_SECRET") });
 * ```
 */
export function github(options: GitHubOptions): IdentityProvider {
  return new GitHubProvider(resolveProviderOptions("github", options, rules));
}

const GITHUB = "https://github.com";
const rules = { url: optional(serverUrl, GITHUB) };
type ResolvedGitHub = Complete<GitHubOptions>;

class GitHubProvider extends IdentityProvider {
  readonly #options: ResolvedGitHub;
  readonly #url: string;
  #configured: Promise<Configuration> | undefined;

  constructor(options: ResolvedGitHub) {
    super("github", options);
    this.#options = options;
    this.#url = options.url.replace(/\/$/, "");
  }

  async authorizationUrl(_services: ProviderServices, secrets: SignInSecrets): Promise<URL> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await openIDClient();
    return buildAuthorizationUrl(await this.#configuration(), {
      redirect_uri: secrets.redirectUri,
      scope: "read:user user:email",
      state: secrets.state,
      code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: "S256",
    });
  }

  async accountOf(services: ProviderServices, callback: URL, secrets: SignInSecrets): Promise<ProviderAccount> {
    const { authorizationCodeGrant } = await openIDClient();
    const configuration = await this.#configuration();
    return reachProvider(services, this.name, async () => {
      const { access_token } = await authorizationCodeGrant(configuration, callback, {
        expectedState: secrets.state,
        pkceCodeVerifier: secrets.verifier,
      });
      const { id } = (await this.#get(access_token, "/user")) as { readonly id?: unknown };
      if (typeof id !== "number") throw new Error("GitHub returned a user without an id");
      const primary = primaryOf(await this.#get(access_token, "/user/emails"));
      return {
        issuer: this.#url,
        // The id stays the same when the person changes the login name.
        subject: String(id),
        email: primary?.email,
        isEmailVerified: primary?.verified === true,
        sid: undefined,
      };
    });
  }

  logoutNotice(): Promise<LogoutNotice> {
    return Promise.reject(new NotFound("This provider does not support back-channel logout"));
  }

  async #get(accessToken: string, path: string): Promise<unknown> {
    const { fetchProtectedResource } = await openIDClient();
    const api = this.#url === GITHUB ? "https://api.github.com" : `${this.#url}/api/v3`;
    const headers = new Headers({ accept: "application/vnd.github+json" });
    const configuration = await this.#configuration();
    const response = await fetchProtectedResource(
      configuration,
      accessToken,
      new URL(api + path),
      "GET",
      null,
      headers,
    );
    if (response.status !== 200) throw new Error(`GitHub responded to ${path} with status ${response.status}`);
    return response.json();
  }

  #configuration(): Promise<Configuration> {
    this.#configured ??= this.#configure();
    return this.#configured;
  }

  async #configure(): Promise<Configuration> {
    const client = await openIDClient();
    const { clientId, clientSecret, timeoutSeconds } = this.#options;
    const oauth = `${this.#url}/login/oauth`;
    const configuration = new client.Configuration(
      { issuer: oauth, authorization_endpoint: `${oauth}/authorize`, token_endpoint: `${oauth}/access_token` },
      clientId,
      clientSecret,
      client.ClientSecretPost(clientSecret),
    );
    configuration.timeout = timeoutSeconds;
    configuration[client.customFetch] = providerFetch;
    if (isInsecure(this.#url)) client.allowInsecureRequests(configuration);
    return configuration;
  }
}

interface GitHubEmail {
  readonly email: string;
  readonly primary: boolean;
  readonly verified: boolean;
}

function primaryOf(emails: unknown): GitHubEmail | undefined {
  const list = Array.isArray(emails) ? (emails as readonly Partial<GitHubEmail>[]) : [];
  return list.find((entry) => entry.primary === true && typeof entry.email === "string") as GitHubEmail | undefined;
}
