import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { AuthScope } from "../../kernel/identity/identity.ts";

/** A caller whose credential the author of the application passes, for example for a custom backend. */
export interface GivenIdentity {
  /** The headers that authenticate it. */
  readonly headers: Readonly<Record<string, string>>;
  /** The permissions that the caller has by this credential; `null` for a credential that must not be accepted. */
  readonly permissions: readonly string[] | null;
  /** The scope of the backend that accepts the credential. @default "session" */
  readonly scope?: AuthScope;
}

/** The state of a credential. It is `outdated` if all credentials of its user were renewed since. */
export type CredentialState = "valid" | "expired" | "revoked" | "outdated";

/** A caller that `attack.signIn` issues a credential for. */
export interface AttackCaller {
  /** The id of the user, who exists in this process only. */
  readonly identity: string;
  readonly scope: AuthScope;
  readonly state: CredentialState;
}

/** The options of `attack`. */
export interface AttackOptions {
  /**
   * Signs a user in as the application does, and returns the headers of the credential, such as a token with the application's
   * own claims. `null` if there is no such credential, `undefined` for the one that Portico issues. @default the credentials that
   * Portico issues
   */
  readonly signIn?: (caller: AttackCaller) => MaybePromise<Readonly<Record<string, string>> | null | undefined>;
  /** More callers, by the name that the report uses for them. @default none */
  readonly identities?: Readonly<Record<string, GivenIdentity>>;
  /** Places that are not attacked, as the access table names them: `GET /reports/:id`. @default none */
  readonly skip?: readonly string[];
  /** The time limit of one request, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number;
}
