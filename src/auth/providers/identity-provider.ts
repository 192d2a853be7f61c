import type { AppServices } from "../../kernel/context/app-services.ts";
import { canonicalName } from "../users/canonical-name.ts";
import type { ProviderRules } from "./provider-options.ts";

/** The services of the application that a provider uses. */
export type ProviderServices = Pick<AppServices, "clock" | "log">;

/** The values of one sign-in that the provider receives, or must return unchanged. */
export interface SignInSecrets {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier. */
  readonly verifier: string;
}

/** A person's account at a provider. */
export interface ProviderAccount {
  readonly issuer: string;
  /** `sub`: unique for the issuer and never reassigned, unlike an email address. */
  readonly subject: string;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  /** The session at the provider, which a back-channel logout may name. */
  readonly sid: string | undefined;
}

/** The session or the account that a provider has signed out. */
export interface LogoutNotice {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  /** Unique for the issuer. A logout token is accepted once. */
  readonly jti: string;
}

/** An identity provider that users sign in with. `oidc`, `google` and `github` create one. */
export abstract class IdentityProvider {
  /** The name in the URLs of the provider's routes. */
  readonly name: string;
  /** @internal */
  readonly rules: ProviderRules;

  /** @internal */
  constructor(name: string, rules: ProviderRules) {
    this.name = name;
    this.rules = rules;
  }

  /** @internal Whether the provider is responsible for an email address. */
  isResponsibleFor(email: string): boolean {
    const name = canonicalName(email);
    return name.includes("@") && this.rules.domains.includes(name.slice(name.lastIndexOf("@") + 1));
  }

  /** @internal Returns the URL at which the person signs in. */
  abstract authorizationUrl(services: ProviderServices, secrets: SignInSecrets): Promise<URL>;

  /**
   * @internal Redeems the code of a callback and returns the account of the person.
   *
   * @param callback the URL that the provider has redirected to
   */
  abstract accountOf(services: ProviderServices, callback: URL, secrets: SignInSecrets): Promise<ProviderAccount>;

  /** @internal Verifies a logout token. Rejects if it is not valid, or if the provider does not send any. */
  abstract logoutNotice(services: ProviderServices, token: string): Promise<LogoutNotice>;
}
