import type { AuthScope, CurrentUser } from "../../kernel/identity/identity.ts";
import { ANONYMOUS, type AttackIdentity } from "./attack-identity.ts";
import type { CredentialState, GivenIdentity } from "./attack-options.ts";
import type { Credentials, IssuedCredential } from "./credentials.ts";
import type { StandInUsers } from "./stand-in-users.ts";

export interface IdentitiesOptions {
  readonly users: StandInUsers;
  /** `null` if the application has no authentication that credentials can be issued for. */
  readonly credentials: Credentials | null;
  /** The sign-in methods of the application. */
  readonly scopes: readonly AuthScope[];
  /** All permissions that a gate of the application asks for. */
  readonly permissions: readonly string[];
  readonly given: Readonly<Record<string, GivenIdentity>>;
  /** Makes a user known to the application. Returns whether a credential of the user has been accepted since. */
  readonly enlist: (user: CurrentUser) => () => boolean;
}

const NOUNS: Readonly<Record<string, string>> = { session: "session", jwt: "token", apikey: "API key" };
const SPOILT: readonly (readonly [CredentialState, string])[] = [
  ["expired", "an expired"],
  ["revoked", "a revoked"],
  ["outdated", "an outdated"],
];

/** The callers of the attack. Each is made once, when a gate first needs it. */
export class Identities {
  readonly #options: IdentitiesOptions;
  readonly #made = new Map<string, Promise<AttackIdentity | null>>();
  readonly #given: readonly AttackIdentity[];
  /** The sign-in methods whose valid credentials the application rejects. */
  readonly #rejected = new Set<AuthScope>();

  constructor(options: IdentitiesOptions) {
    const { users, given } = options;
    this.#options = options;
    this.#given = Object.entries(given).map(([name, { headers, permissions, scope = "session" }]) => ({
      name,
      headers,
      scope,
      user: permissions === null ? null : users.declared(name, permissions),
      isFresh: true,
    }));
  }

  /** The callers for a gate that asks for these permissions. */
  async for(asked: readonly string[]): Promise<readonly AttackIdentity[]> {
    const { scopes, permissions } = this.#options;
    const rest = permissions.filter((name) => !asked.includes(name));
    const lacking = asked.length > 1 ? asked.map((one) => [one]) : [];
    const coming = [
      ...scopes.map((scope) => this.#holder(scope, permissions, "every permission")),
      ...scopes.flatMap((scope) => SPOILT.map(([state, word]) => this.#spoilt(scope, state, word))),
      this.#holder(this.#first, [], "no permission"),
      ...[asked, ...lacking].filter((names) => names.length > 0).map((names) => this.#without(names)),
      this.#narrowed([], "nothing"),
      ...(asked.length === 0 ? [] : [this.#narrowed(rest, `everything but ${asked.join(" and ")}`)]),
    ];
    const made = (await Promise.all(coming)).filter((identity) => identity !== null);
    return [ANONYMOUS, ...made, ...this.#given];
  }

  /** A caller who may do everything, to see what there is behind a gate. */
  async control(): Promise<AttackIdentity> {
    return (
      (await this.#holder(this.#first, this.#options.permissions, "every permission")) ?? this.#given[0] ?? ANONYMOUS
    );
  }

  /** The sign-in methods without a caller, and whether the application rejects the credentials that were issued. */
  async missing(): Promise<readonly { readonly scope: AuthScope; readonly isRejected: boolean }[]> {
    const { scopes, permissions } = this.#options;
    const held = await Promise.all(scopes.map((scope) => this.#holder(scope, permissions, "every permission")));
    const given = Object.values(this.#options.given).map(({ scope = "session" }) => scope);
    return scopes
      .filter((scope, index) => held[index] === null && !given.includes(scope))
      .map((scope) => ({ scope, isRejected: this.#rejected.has(scope) }));
  }

  get #first(): AuthScope {
    return this.#options.scopes[0] ?? "session";
  }

  #without(names: readonly string[]): Promise<AttackIdentity | null> {
    const kept = this.#options.permissions.filter((name) => !names.includes(name));
    return this.#holder(this.#first, kept, `every permission but ${names.join(" and ")}`);
  }

  #holder(scope: AuthScope, permissions: readonly string[], what: string): Promise<AttackIdentity | null> {
    return this.#once(`a user with ${what} (by ${NOUNS[scope] ?? scope})`, async (name) => {
      const [user, issued] = await this.#accepted(scope, permissions);
      const declared = this.#options.users.declared(user.identity, permissions);
      return issued === null ? null : { name, scope, user: declared, ...issued };
    });
  }

  #spoilt(scope: AuthScope, state: CredentialState, word: string): Promise<AttackIdentity | null> {
    return this.#once(`${word} ${NOUNS[scope] ?? scope}`, async (name) => {
      const [user] = this.#user(this.#options.permissions);
      const issued = (await this.#options.credentials?.issue(scope, user, state)) ?? null;
      return issued === null ? null : { name, scope, user: null, ...issued, isFresh: false };
    });
  }

  #narrowed(to: readonly string[], what: string): Promise<AttackIdentity | null> {
    return this.#once(`an API key narrowed to ${what}`, async (name) => {
      if (!this.#options.scopes.includes("apikey")) return null;
      const [user, issued] = await this.#accepted("apikey", this.#options.permissions, to);
      const declared = this.#options.users.declared(user.identity, to);
      return issued === null ? null : { name, scope: "apikey", user: declared, ...issued };
    });
  }

  /**
   * A user with a valid credential that the application accepts. It may reject one that lacks a claim, and then no response
   * says anything about the gates.
   */
  async #accepted(
    scope: AuthScope,
    permissions: readonly string[],
    narrowedTo?: readonly string[],
  ): Promise<readonly [user: CurrentUser, issued: IssuedCredential | null]> {
    const [user, isKnown] = this.#user(permissions);
    const issued = (await this.#options.credentials?.issue(scope, user, "valid", narrowedTo)) ?? null;
    if (issued === null) return [user, null];
    const isTried = (await this.#options.credentials?.tryOut(issued)) === true;
    if (!isTried || isKnown()) return [user, issued];
    this.#rejected.add(scope);
    return [user, null];
  }

  /** Each credential has its own user, because an application may limit the number of sessions. */
  #user(permissions: readonly string[]): readonly [user: CurrentUser, isKnown: () => boolean] {
    const user = this.#options.users.user(permissions);
    return [user, this.#options.enlist(user)];
  }

  #once(name: string, make: (name: string) => Promise<AttackIdentity | null>): Promise<AttackIdentity | null> {
    const known = this.#made.get(name) ?? make(name);
    this.#made.set(name, known);
    return known;
  }
}
