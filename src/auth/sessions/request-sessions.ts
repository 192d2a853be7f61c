import { isInstance, loggable } from "../../core/describe-error.ts";
import type { KeyRing } from "../../core/key-ring.ts";
import { flag, optional, resolveOptions } from "../../core/resolve-options.ts";
import { assuranceLevel } from "../../kernel/access/use-auth.ts";
import { type HttpContext, identify, type WebSocketContext } from "../../kernel/context/http-context.ts";
import { AuthenticationFailed } from "../../kernel/exceptions/authentication-failed.ts";
import { HttpException, ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import { type AssuranceLevel, type Credential, revoked } from "../../kernel/identity/credential.ts";
import { ANONYMOUS, type CurrentUser, type UserProtocol } from "../../kernel/identity/identity.ts";
import type { DeviceSession, LoginOptions, SessionManager } from "../../kernel/identity/session-manager.ts";
import { AuthResult } from "../callers/auth-result.ts";
import { impersonating, impersonationEnded } from "../callers/impersonating.ts";
import { refuseNarrowed } from "../users/narrow-user.ts";
import { deviceLabel } from "./device-label.ts";
import { crossSiteRefused, isForgeable } from "./is-forgeable.ts";
import { RequestCookie } from "./request-cookie.ts";
import type { Acting, SessionRecord } from "./session-record.ts";
import type { NewSession, SessionStore, StoredSession } from "./session-store.ts";

const NAME = "session:";

/** Returns the handle of the session that a cookie or a token with a `sid` belongs to. */
export function sessionNamedBy(credential: Credential | undefined): string | null {
  return credential?.id?.startsWith(NAME) === true ? credential.id.slice(NAME.length) : null;
}

const beginRules = { level: assuranceLevel };
const loginRules = { ...beginRules, remember: optional(flag, false) };

/** A session that goes on under a new id. */
export interface RenewedSession {
  readonly handle: string;
  /** Whether the caller uses a token, and needs a new one. Otherwise, the response sets the cookie. */
  readonly hasToken: boolean;
}

/** The sessions of one request. Nothing is read or looked up before a method is called. */
export class RequestSessions implements SessionManager {
  readonly #ctx: HttpContext | WebSocketContext;
  readonly #cookie: RequestCookie;
  readonly #store: SessionStore;
  /** The handle of the session that the request came with or has started. */
  #current: string | null = null;
  /** Whether the session acts as another user, for whom it must not create or end anything. */
  #isActing = false;

  constructor(ctx: HttpContext | WebSocketContext, ring: KeyRing, store: SessionStore) {
    this.#ctx = ctx;
    this.#cookie = new RequestCookie(ctx, ring);
    this.#store = store;
  }

  /** Whether the response sets or deletes the cookie. */
  get isCookieSent(): boolean {
    return this.#cookie.isSent;
  }

  /**
   * Authenticates the request by its session cookie. Rejects when the store fails.
   *
   * @param isPermitted whether the session may still act as another user
   */
  async authenticate(
    isPermitted: (record: SessionRecord, acting: Acting) => Promise<boolean> = async () => false,
  ): Promise<AuthResult> {
    const cookie = this.#cookie.presented;
    if (cookie.kind === "none") return AuthResult.decline("no session cookie");
    if (cookie.kind === "bad")
      return this.#declineAndForget("the session cookie is malformed, badly signed or sent twice");
    if (isForgeable(this.#ctx))
      return AuthResult.decline("a page of another origin sent the session cookie", crossSiteRefused());
    // A recheck of an open connection is not a use: an open page does not mean that the user is present.
    const session = await (this.#current === null ? this.#store.use(cookie.id) : this.#store.find(this.#current));
    if (session === null) return this.#declineAndForget("the session has ended");
    this.#current = session.handle;
    if (cookie.key === "older") this.#sendCookie(cookie.id, session);
    const { user, acting } = session.record;
    if (acting === undefined) return AuthResult.accept(user, "session", this.#credential(session));
    this.#isActing = this.#ctx.services.clock.now() < acting.until && (await isPermitted(session.record, acting));
    if (!this.#isActing) return AuthResult.decline("the impersonation has ended", impersonationEnded());
    const expiresAt = Math.min(acting.until, this.#store.lastsUntil(session));
    // Neither the sign-in nor its level is the user's own, so gates that require them reject the caller.
    return AuthResult.accept(acting.user, "session", { id: NAME + session.handle, expiresAt, impersonator: user });
  }

  async login(user: CurrentUser, options: LoginOptions = {}): Promise<void> {
    const { remember, level } = resolveOptions("sessions.login", options, loginRules);
    const ctx = this.#ctx;
    if (ctx.kind !== "http")
      throw new Error("sessions.login cannot be called on a WebSocket: the session cookie needs an HTTP response");
    const draft = this.#draft("login", user, remember, level);
    const started = await this.#reach(async () => {
      const session = await this.#store.start(draft);
      await this.#endPresented();
      return session;
    });
    this.#adopt(user, started);
  }

  async begin(user: CurrentUser, options: Pick<LoginOptions, "level"> = {}): Promise<string> {
    const { level } = resolveOptions("sessions.begin", options, beginRules);
    const draft = this.#draft("begin", user, true, level);
    return (await this.#reach(() => this.#store.start(draft))).handle;
  }

  /**
   * Continues the caller's session under a new id, after the user has proved a second factor or changed the password. The
   * old id ends at once (session fixation). The session ends when it would have ended before, and a sign-out of the
   * sessions that it continues, for example by an identity provider, ends it as well. Throws 401 if it has ended.
   *
   * @param level the new level, if it changes
   */
  async renew(user: CurrentUser, level?: AssuranceLevel): Promise<RenewedSession> {
    const handle = this.#own;
    const session = handle === null ? null : await this.#reach(() => this.find(user.identity, handle));
    if (session === null) throw new AuthenticationFailed();
    const { isRemembered, level: before, origin = session.handle } = session.record;
    const draft = { ...this.#draft("renew", user, isRemembered, level ?? before), origin };
    const hasToken = this.#byToken !== null;
    const renewed = await this.#reach(async () => {
      const started = await this.#store.start(draft, this.#store.lastsUntil(session));
      if ((await this.#end(user.identity, [session.handle])) > 0) return started;
      // The session was signed out in the meantime, and must not go on under another id.
      await this.#end(user.identity, [started.handle]);
      throw new AuthenticationFailed();
    });
    if (!hasToken) this.#adopt(user, renewed);
    return { handle: renewed.handle, hasToken };
  }

  /**
   * Lets the session of the cookie act as another user, or with `null` as its own user again, from the next request on.
   * Closes the connections that it opened before. Returns its record as it was before, or `null` if it has ended or
   * already is as required.
   */
  async act(acting: Acting | null): Promise<SessionRecord | null> {
    const handle = this.#current;
    if (handle === null) return null;
    const before = await this.#reach(() => this.#store.act(handle, acting));
    if (before !== null) await this.#publishEnd(before.acting?.user ?? before.user, [handle]);
    return before;
  }

  async logout(): Promise<void> {
    // A page of another origin must not be able to sign the user out either.
    if (isForgeable(this.#ctx)) return;
    const [user, byToken] = [this.#user, this.#byToken];
    await this.#reach(async () => {
      await this.#endPresented();
      if (user !== null && byToken !== null) await this.#endOne(user, byToken);
    });
    this.#signOut();
  }

  async list(): Promise<readonly DeviceSession[]> {
    const user = this.#user;
    if (user === null) return [];
    const sessions = await this.#reach(() => this.#store.list(user));
    return sessions.map(({ handle, record, expiresAt }) => ({
      id: handle,
      current: handle === this.#own,
      device: record.device,
      address: record.address,
      createdAt: new Date(record.issuedAt),
      lastSeenAt: new Date(record.seenAt),
      expiresAt: new Date(expiresAt),
    }));
  }

  async revoke(id: string): Promise<boolean> {
    this.#refuseActing();
    const user = this.#user;
    if (user === null) return false;
    const count = await this.#reach(() => this.#endOne(user, id));
    if (count > 0 && id === this.#current) this.#signOut();
    return count > 0;
  }

  async revokeOthers(): Promise<number> {
    return this.#revokeBut(this.#own);
  }

  async revokeAll(): Promise<number> {
    const count = await this.#revokeBut(null);
    if (this.#ctx.identity.auth === "session") this.#signOut();
    return count;
  }

  /**
   * Ends all sessions of a user, who need not be the caller.
   *
   * @param spared the handle of a session that goes on
   */
  async endAllOf(user: string, spared: string | null = null): Promise<number> {
    return this.#reach(() => this.#endBut(spared, user));
  }

  /** Returns the user's live session with this handle. Rejects when the store fails. */
  async find(user: string, handle: string): Promise<StoredSession | null> {
    const session = await this.#store.find(handle);
    return session?.record.user === user ? session : null;
  }

  /** Returns the handle of the first session that the caller's session continues, or `null` if the caller has none. */
  async origin(user: string): Promise<string | null> {
    const handle = this.#own;
    const session = handle === null ? null : await this.#reach(() => this.find(user, handle));
    return session === null ? null : (session.record.origin ?? session.handle);
  }

  /** Records a use of the session. Returns `false` if it has ended. */
  async prolong(user: string, handle: string): Promise<boolean> {
    return this.#reach(
      async () => (await this.find(user, handle)) !== null && (await this.#store.touch(handle)) !== null,
    );
  }

  /** Ends one session of a user, who need not be the caller, and the session that continues it under another id. */
  async endOneOf(user: string, handle: string): Promise<void> {
    await this.#reach(async () => {
      const sessions = await this.#store.list(user);
      const meant = sessions.filter((session) => session.handle === handle || session.record.origin === handle);
      const handles = meant.map((session) => session.handle);
      if (handles.length > 0) await this.#end(user, handles);
    });
  }

  /** Makes this the session of the request and of the client's cookie. */
  #adopt(user: CurrentUser, started: StoredSession & { readonly id: string }): void {
    this.#current = started.handle;
    this.#sendCookie(started.id, started);
    const { challenge } = this.#ctx.identity;
    const credential = this.#credential(started);
    identify(this.#ctx, { user, auth: "session", credential, ...(challenge === undefined ? {} : { challenge }) });
  }

  /** The values of a new session of the user. */
  #draft(method: string, user: UserProtocol, isRemembered: boolean, level: AssuranceLevel | undefined): NewSession {
    const { identity, isAuthenticated, credentialVersion } = user;
    if (!isAuthenticated || typeof identity !== "string" || identity === "")
      throw new TypeError(`sessions.${method} requires a signed-in user with an identity`);
    if (isForgeable(this.#ctx)) throw crossSiteRefused();
    refuseNarrowed(user);
    this.#refuseActing();
    const { request } = this.#ctx;
    return {
      user: identity,
      device: deviceLabel(request.headers["user-agent"]),
      address: request.ip,
      isRemembered,
      ...(credentialVersion === undefined ? {} : { version: credentialVersion }),
      ...(level === undefined ? {} : { level }),
    };
  }

  async #revokeBut(spared: string | null): Promise<number> {
    this.#refuseActing();
    const user = this.#user;
    if (user === null) return 0;
    return this.#reach(() => this.#endBut(spared, user));
  }

  async #endBut(spared: string | null, user: string): Promise<number> {
    const handles = await this.#store.handles(user);
    return this.#end(
      user,
      handles.filter((handle) => handle !== spared),
    );
  }

  #credential(session: StoredSession): Credential {
    const { handle, record } = session;
    return {
      id: NAME + handle,
      expiresAt: this.#store.lastsUntil(session),
      signedInAt: record.issuedAt,
      ...(record.version === undefined ? {} : { version: record.version }),
      ...(record.level === undefined ? {} : { level: record.level }),
    };
  }

  /** Turns a store failure into 503 for the client and logs the cause. */
  async #reach<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      if (isInstance(error, HttpException)) throw error;
      this.#ctx.log.error({ err: loggable(error) }, "the session store failed");
      throw new ServiceUnavailable("Sessions are temporarily unavailable. Try again later.", { cause: error });
    }
  }

  /** The handle of the session of this request, from its cookie or its token. */
  get #own(): string | null {
    return this.#current ?? this.#byToken;
  }

  get #byToken(): string | null {
    const { auth, credential } = this.#ctx.identity;
    return auth === "session" ? null : sessionNamedBy(credential);
  }

  /** The identity of the caller, or `null` for an anonymous caller. */
  get #user(): string | null {
    const { isAuthenticated, identity } = this.#ctx.user;
    return isAuthenticated && identity !== "" ? identity : null;
  }

  /** Ends the session of the cookie, which need not be the session of the caller. */
  async #endPresented(): Promise<void> {
    const cookie = this.#cookie.presented;
    if (cookie.kind !== "signed") return;
    const owner = await this.#store.ownerOf(cookie.id);
    if (owner !== null) await this.#end(owner.user, [owner.handle]);
  }

  async #endOne(user: string, handle: string): Promise<number> {
    return (await this.find(user, handle)) === null ? 0 : this.#end(user, [handle]);
  }

  /** Ends sessions and notifies all processes, so that connections opened with them are closed. */
  async #end(user: string, handles: readonly string[]): Promise<number> {
    const count = await this.#store.end(user, handles);
    await this.#publishEnd(user, handles);
    return count;
  }

  async #publishEnd(user: string, handles: readonly string[]): Promise<void> {
    const { services, log } = this.#ctx;
    // Published directly, not through the context's bus: a transaction must neither undo nor delay a revocation.
    const published = handles.map((handle) =>
      services.stores.bus.publish(revoked, { user, credential: NAME + handle }),
    );
    for (const result of await Promise.allSettled(published)) {
      // The sessions have ended anyway, and open connections are closed at their next recheck.
      if (result.status === "rejected") log.warn({ err: result.reason }, "failed to publish a session revocation");
    }
  }

  #refuseActing(): void {
    if (this.#isActing) throw impersonating();
  }

  #signOut(): void {
    this.#current = null;
    this.#cookie.forget();
    const { auth, challenge } = this.#ctx.identity;
    if (auth === "session") identify(this.#ctx, challenge === undefined ? ANONYMOUS : { ...ANONYMOUS, challenge });
  }

  #declineAndForget(reason: string): AuthResult {
    this.#cookie.forget();
    return AuthResult.decline(reason);
  }

  #sendCookie(id: string, session: StoredSession): void {
    const leftMs = this.#store.lastsUntil(session) - this.#ctx.services.clock.now();
    this.#cookie.send(id, session.record.isRemembered ? Math.floor(leftMs / 1000) : undefined);
  }
}
