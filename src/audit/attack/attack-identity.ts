import type { AuthScope, UserProtocol } from "../../kernel/identity/identity.ts";

/** A caller of the attack: its credential, and the user that gates decide about. */
export interface AttackIdentity {
  /** With an article, as in a sentence: `a revoked session`. */
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `null` for an anonymous caller, which a credential that is not valid makes, too. */
  readonly user: UserProtocol | null;
  /** The sign-in method. */
  readonly scope: AuthScope;
  /** Whether the credential has the time and the level of the sign-in. */
  readonly isFresh: boolean;
}

export const ANONYMOUS: AttackIdentity = {
  name: "an anonymous caller",
  headers: {},
  user: null,
  scope: "session",
  isFresh: false,
};
