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

/** The options of `attack`. */
export interface AttackOptions {
  /** More callers, by the name that the report uses for them. @default none */
  readonly identities?: Readonly<Record<string, GivenIdentity>>;
  /** Places that are not attacked, as the access table names them: `GET /reports/:id`. @default none */
  readonly skip?: readonly string[];
  /** The time limit of one request, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number;
}
