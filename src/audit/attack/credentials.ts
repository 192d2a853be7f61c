import { randomUUID } from "node:crypto";
import type { APIKeyRecord } from "../../auth/api-keys/api-key-record.ts";
import type { APIKeyStore } from "../../auth/api-keys/api-key-store.ts";
import { keyDigest, makeKey } from "../../auth/api-keys/api-key-text.ts";
import { APIKeyAuthBackend } from "../../auth/backends/api-key-auth-backend.ts";
import type { AuthenticationMiddleware } from "../../auth/backends/authentication-middleware.ts";
import { JWTAuthBackend } from "../../auth/backends/jwt-auth-backend.ts";
import { SessionAuthBackend } from "../../auth/backends/session-auth-backend.ts";
import { DeviceTokenBackend } from "../../auth/preset/device-token-backend.ts";
import type { SessionMiddleware } from "../../auth/sessions/session-middleware.ts";
import type { StoredSession } from "../../auth/sessions/session-store.ts";
import { VERSION_CLAIM } from "../../auth/tokens/version-claim.ts";
import { withoutControls } from "../../http/text/plain-text.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import type { AuthScope, UserProtocol } from "../../kernel/identity/identity.ts";
import type { AttackOptions, CredentialState } from "./attack-options.ts";
import { STAND_IN_VERSION } from "./stand-in-users.ts";

export interface IssuedCredential {
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it has the time and the level of the sign-in. */
  readonly isFresh: boolean;
}

/** Sends a request with these headers, as a real client would have used the credential before. Returns whether there is a place for it. */
export type Use = (headers: Readonly<Record<string, string>>) => Promise<boolean>;

type Sessions = ReturnType<SessionMiddleware["sessionsOn"]>;
type Services = Pick<AppServices, "stores" | "clock">;

const DAY_MS = 86_400_000;

/** Issues credentials with the keys and the stores of an application, and takes them back at the end. */
export class Credentials {
  readonly #services: Services;
  readonly #sessions: Sessions | null;
  readonly #tokens: JWTAuthBackend | null;
  readonly #keys: APIKeyAuthBackend | null;
  readonly #use: Use;
  readonly #signIn: NonNullable<AttackOptions["signIn"]>;
  readonly #undo: (() => Promise<unknown>)[] = [];

  constructor(
    { backends }: AuthenticationMiddleware,
    sessions: SessionMiddleware | null,
    {
      services,
      use,
      signIn,
    }: { readonly services: Services; readonly use: Use; readonly signIn: AttackOptions["signIn"] },
  ) {
    const hasSessions = backends.some(
      (backend) => backend instanceof SessionAuthBackend || backend.scope === "session",
    );
    this.#services = services;
    this.#sessions = hasSessions ? (sessions?.sessionsOn(services) ?? null) : null;
    this.#tokens = backends.find((backend) => backend instanceof JWTAuthBackend) ?? null;
    this.#keys = backends.find((backend) => backend instanceof APIKeyAuthBackend) ?? null;
    this.#use = use;
    this.#signIn = signIn ?? (() => undefined);
  }

  /** Returns a credential of this user, or `null` if none of this kind can be issued. */
  async issue(
    scope: AuthScope,
    user: UserProtocol,
    state: CredentialState,
    narrowedTo?: readonly string[],
  ): Promise<IssuedCredential | null> {
    const own = narrowedTo === undefined ? await this.#signIn({ identity: user.identity, scope, state }) : undefined;
    if (own !== undefined) return own === null ? null : { headers: own, isFresh: false };
    if (scope === "apikey") return this.#key(user, state, narrowedTo ?? null);
    if (narrowedTo !== undefined) return null;
    if (scope === "jwt") return this.#token(user, state);
    return scope === "session" ? this.#cookie(user, state) : null;
  }

  /** Uses a valid credential once. Returns `false` if there is no place where it could be used. */
  tryOut({ headers }: IssuedCredential): Promise<boolean> {
    return this.#use(headers);
  }

  /** Removes all credentials from the stores. */
  async takeBack(): Promise<void> {
    for (const undo of this.#undo.splice(0)) await undo();
  }

  async #cookie(user: UserProtocol, state: CredentialState): Promise<IssuedCredential | null> {
    if (this.#sessions === null) return null;
    const { store, cookieOf } = this.#sessions;
    const session = await this.#session(
      this.#sessions,
      user,
      state === "outdated" ? STAND_IN_VERSION - 1 : STAND_IN_VERSION,
    );
    const headers = { cookie: cookieOf(session.id) };
    if (state === "expired" || state === "revoked") await this.#use(headers);
    if (state === "expired") await store.expire(session.handle);
    if (state === "revoked") await store.end(user.identity, [session.handle]);
    return { headers, isFresh: true };
  }

  async #session(
    { store }: Sessions,
    user: UserProtocol,
    version: number,
  ): Promise<StoredSession & { readonly id: string }> {
    const session = await store.start({
      user: user.identity,
      device: "portico audit",
      address: "127.0.0.1",
      isRemembered: false,
      version,
      level: "mfa",
    });
    this.#undo.push(() => store.end(user.identity, [session.handle]));
    return session;
  }

  async #token(user: UserProtocol, state: CredentialState): Promise<IssuedCredential | null> {
    const backend = this.#tokens;
    if (backend === null) return null;
    const sessions = backend instanceof DeviceTokenBackend ? this.#sessions : null;
    // Without a session a token is revoked by the version of its user only.
    if (state === "revoked" && sessions === null) return null;
    const session = sessions === null ? null : await this.#session(sessions, user, STAND_IN_VERSION);
    const now = Math.floor(this.#services.clock.now() / 1000);
    const issuedAt = state === "expired" ? now - 7_200 : now;
    const token = await backend.tokenFor(user.identity, {
      iat: issuedAt,
      exp: issuedAt + 3_600,
      jti: randomUUID(),
      [VERSION_CLAIM]: state === "outdated" ? STAND_IN_VERSION - 1 : STAND_IN_VERSION,
      ...(session === null ? {} : { sid: session.handle }),
    });
    if (token === null) return null;
    const headers = { authorization: `Bearer ${token}` };
    if (state === "revoked" && session !== null) {
      await this.#use(headers);
      await sessions?.store.end(user.identity, [session.handle]);
    }
    return { headers, isFresh: sessions !== null };
  }

  async #key(
    user: UserProtocol,
    state: CredentialState,
    permissions: readonly string[] | null,
  ): Promise<IssuedCredential | null> {
    // A key is not bound to the version of its user.
    if (this.#keys === null || state === "outdated") return null;
    const header = this.#keys.headers[0] as string;
    const { stores, clock } = this.#services;
    const now = clock.now();
    // The store keeps a record until it expires by this clock, so that the backend is the one that has to notice.
    const past = { now: () => now - DAY_MS, monotonic: () => clock.monotonic() };
    const keys = this.#keys.keys.keysOn({ stores, clock: state === "expired" ? past : clock });
    const made = makeKey();
    const record: APIKeyRecord = {
      user: user.identity,
      hash: keyDigest(made),
      lastFour: made.text.slice(-4),
      name: withoutControls("portico audit", 200),
      permissions,
      perMinute: null,
      createdAt: now,
      expiresAt: now + DAY_MS,
      lastUsedAt: null,
      previous: null,
      isPending: false,
    };
    await keys.add(made.id, record, Number.MAX_SAFE_INTEGER);
    this.#undo.push(() => keys.remove(user.identity, [made.id]));
    const headers = { [header]: made.text };
    if (state === "expired" || state === "revoked") await this.#use(headers);
    if (state === "expired") await expire(keys, made.id, now - DAY_MS / 2);
    if (state === "revoked") await keys.remove(user.identity, [made.id]);
    return { headers, isFresh: false };
  }
}

/** The backend may be recording the use of the key at the same time, so this may take more than one try. */
async function expire(keys: APIKeyStore, id: string, expiresAt: number): Promise<void> {
  for (let found = await keys.find(id); found !== null; found = await keys.find(id))
    if ((await keys.replace(found, { ...found.record, expiresAt })) !== null) return;
}
