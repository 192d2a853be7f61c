import type { UserProtocol } from "../../kernel/identity/identity.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import type { SecretAttempt } from "../limits/secret-attempt.ts";
import type { ProviderAccount } from "../providers/identity-provider.ts";
import { OneTimeTokens } from "./one-time-tokens.ts";

/** The form in which a user signs in: a session with a cookie, or tokens. */
export interface SignInForm {
  readonly kind: "cookie" | "tokens";
  readonly remember: boolean;
  /** The account at an identity provider that the user signs in with, so that the provider can end the session, or `null`. */
  readonly via: Pick<ProviderAccount, "issuer" | "subject" | "sid"> | null;
  /** The email address that the sign-in proves, by an email or an identity provider. */
  readonly proves?: string;
}

interface PendingGrant extends SignInForm {
  /** The user's `credentialVersion` at the sign-in. A new password changes it and so invalidates the token. */
  readonly version: number | null;
}

const PENDING_MS = 300_000;

/** The sign-ins that wait for the second factor. A user has one at a time, and its token is valid for five minutes. */
export class PendingSignIns {
  readonly #tokens: OneTimeTokens;

  constructor(store: KeyValueStore) {
    this.#tokens = new OneTimeTokens(store, "second-factor", PENDING_MS);
  }

  issue({ identity, credentialVersion }: UserProtocol, form: SignInForm): Promise<string> {
    const grant: PendingGrant = { ...form, version: credentialVersion ?? null };
    return this.#tokens.issue({ user: identity, about: JSON.stringify(grant) });
  }

  /** Returns the identity that a valid token was issued for. The token stays valid. */
  async userOf(attempt: SecretAttempt, token: string): Promise<string | null> {
    return (await this.#tokens.peek(attempt, token))?.user ?? null;
  }

  /** Spends the token and returns the form of the sign-in. Returns `null` if it is not a valid token of this user. */
  async redeem(
    attempt: SecretAttempt,
    token: string,
    { identity, credentialVersion }: UserProtocol,
  ): Promise<SignInForm | null> {
    const grant = await this.#tokens.redeem(attempt, token);
    if (grant === null || grant.user !== identity) return null;
    const { version, ...form } = JSON.parse(grant.about) as PendingGrant;
    return version === (credentialVersion ?? null) ? form : null;
  }

  async revoke(user: string): Promise<void> {
    await this.#tokens.revoke(user);
  }
}
