import type { KeyRing } from "../../core/key-ring.ts";
import { flag, optional, resolveOptions } from "../../core/resolve-options.ts";
import { type HttpContext, identify, type WebSocketContext } from "../../http/context/http-context.ts";
import { HttpException, ServiceUnavailable } from "../../http/context/http-exception.ts";
import { type Credential, revoked } from "../../http/identity/credential.ts";
import { type CurrentUser, NOBODY } from "../../http/identity/identity.ts";
import type { DeviceSession, LoginOptions, SessionManager } from "../../http/identity/session-manager.ts";
import { AuthResult } from "../backends/auth-result.ts";
import { refuseNarrowed } from "../users/narrow-user.ts";
import { deviceLabel } from "./device-label.ts";
import { crossSiteRefused, isForgeable } from "./is-forgeable.ts";
import { RequestCookie } from "./request-cookie.ts";
import type { NewSession, SessionStore, StoredSession } from "./session-store.ts";

const NAME = "session:";

/** The handle of the session that a credential belongs to: one of a cookie, or a token with a `sid`. */
export function sessionNamedBy(credential: Credential | undefined): string | null {
  return credential?.id?.startsWith(NAME) === true ? credential.id.slice(NAME.length) : null;
}

const loginRules = { remember: optional(flag, false) };

/** The sessions as one request sees them. Nothing is read or looked up before somebody asks. */
export class RequestSessions implements SessionManager {
  readonly #ctx: HttpContext | WebSocketContext;
  readonly #cookie: RequestCookie;
  readonly #store: SessionStore;
  /** The handle of the session that the request came by, or has started. */
  #current: string | null = null;

  constructor(ctx: HttpContext | WebSocketContext, ring: KeyRing, store: SessionStore) {
    this.#ctx = ctx;
    this.#cookie = new RequestCookie(ctx, ring);
    this.#store = store;
  }

  /** Whether the answer sets the cookie, or takes it away. */
  get isCookieSent(): boolean {
    return this.#cookie.isSent;
  }

  /** Whose session the request came by. Rejects when the store does. */
  async authenticate(): Promise<AuthResult> {
    const cookie = this.#cookie.presented;
    if (cookie.kind === "none") return AuthResult.decline("no session cookie");
    if (cookie.kind === "bad") return this.#declineAndForget("not a cookie of ours, or several of them");
    if (isForgeable(this.#ctx)) return AuthResult.decline("a page of a foreign origin sent it", crossSiteRefused());
    // Asked again for something that stays open, it looks without counting as a use: nobody is there because a page is.
    const session = await (this.#current === null ? this.#store.use(cookie.id) : this.#store.find(this.#current));
    if (session === null) return this.#declineAndForget("the session is over");
    this.#current = session.handle;
    if (cookie.key === "older") this.#sendCookie(cookie.id, session);
    return AuthResult.accept(session.record.user, "session", this.#credential(session));
  }

  async login(user: CurrentUser, options: LoginOptions = {}): Promise<void> {
    const { remember } = resolveOptions("sessions.login", options, loginRules);
    const ctx = this.#ctx;
    if (ctx.kind !== "http")
      throw new Error("a session cannot start on a socket: its cookie needs an answer over HTTP");
    const draft = this.#draft("login", user, remember);
    const started = await this.#reach(async () => {
      const session = await this.#store.start(draft);
      await this.#endPresented();
      return session;
    });
    this.#current = started.handle;
    this.#sendCookie(started.id, started);
    const { challenge } = ctx.identity;
    const credential = this.#credential(started);
    identify(ctx, { user, auth: "session", credential, ...(challenge === undefined ? {} : { challenge }) });
  }

  async begin(user: CurrentUser): Promise<string> {
    const draft = this.#draft("begin", user, true);
    return (await this.#reach(() => this.#store.start(draft))).handle;
  }

  async logout(): Promise<void> {
    // A foreign page cannot sign anybody out either.
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

  /** Ends all sessions of a user, whoever this request is signed in as. */
  async endAllOf(user: string): Promise<number> {
    return this.#reach(async () => this.#end(user, await this.#store.handles(user)));
  }

  /** The user's live session by this handle. Rejects when the store does. */
  async find(user: string, handle: string): Promise<StoredSession | null> {
    const session = await this.#store.find(handle);
    return session?.record.user === user ? session : null;
  }

  /** Notes that the session is still in use; `false` when it is over. */
  async prolong(user: string, handle: string): Promise<boolean> {
    return this.#reach(
      async () => (await this.find(user, handle)) !== null && (await this.#store.touch(handle)) !== null,
    );
  }

  /** Ends one session of a user, whoever this request is signed in as. */
  async endOneOf(user: string, handle: string): Promise<void> {
    await this.#reach(() => this.#endOne(user, handle));
  }

  /** What a session of the user starts with. */
  #draft(method: string, user: CurrentUser, isRemembered: boolean): NewSession {
    const { identity, isAuthenticated, credentialVersion } = user;
    if (!isAuthenticated || typeof identity !== "string" || identity === "")
      throw new TypeError(`sessions.${method} takes a user with an identity, not nobody`);
    if (isForgeable(this.#ctx)) throw crossSiteRefused();
    refuseNarrowed(user);
    const { request } = this.#ctx;
    return {
      user: identity,
      device: deviceLabel(request.headers["user-agent"]),
      address: request.ip,
      isRemembered,
      ...(credentialVersion === undefined ? {} : { version: credentialVersion }),
    };
  }

  async #revokeBut(spared: string | null): Promise<number> {
    const user = this.#user;
    if (user === null) return 0;
    return this.#reach(async () => {
      const handles = await this.#store.handles(user);
      return this.#end(
        user,
        handles.filter((handle) => handle !== spared),
      );
    });
  }

  #credential(session: StoredSession): Credential {
    const { handle, record } = session;
    return {
      id: NAME + handle,
      expiresAt: this.#store.lastsUntil(session),
      signedInAt: record.issuedAt,
      ...(record.version === undefined ? {} : { version: record.version }),
    };
  }

  /** A store that fails is "not now" to the client; why, the log knows. */
  async #reach<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      if (error instanceof HttpException) throw error;
      this.#ctx.log.error({ err: error }, "the sessions could not be reached");
      throw new ServiceUnavailable("The sessions cannot be reached", { cause: error });
    }
  }

  /** The handle of the session that this request came by, by its cookie or by a token. */
  get #own(): string | null {
    return this.#current ?? this.#byToken;
  }

  get #byToken(): string | null {
    const { auth, credential } = this.#ctx.identity;
    return auth === "session" ? null : sessionNamedBy(credential);
  }

  /** `null` for nobody. */
  get #user(): string | null {
    const { isAuthenticated, identity } = this.#ctx.user;
    return isAuthenticated && identity !== "" ? identity : null;
  }

  /** Ends the session that the cookie names, whoever this request is signed in as. */
  async #endPresented(): Promise<void> {
    const cookie = this.#cookie.presented;
    if (cookie.kind !== "signed") return;
    const owner = await this.#store.ownerOf(cookie.id);
    if (owner !== null) await this.#end(owner.user, [owner.handle]);
  }

  async #endOne(user: string, handle: string): Promise<number> {
    return (await this.find(user, handle)) === null ? 0 : this.#end(user, [handle]);
  }

  /** Ends sessions, and tells the other processes: what was opened by them is closed there. */
  async #end(user: string, handles: readonly string[]): Promise<number> {
    const count = await this.#store.end(user, handles);
    const { services, log } = this.#ctx;
    // Not by the context's own bus: no transaction takes back what is over, and none holds up the news of it.
    const told = handles.map((handle) => services.stores.bus.publish(revoked, { user, credential: NAME + handle }));
    for (const result of await Promise.allSettled(told)) {
      // They are over all the same: whatever is open by them is found when it is next looked up.
      if (result.status === "rejected") log.warn({ err: result.reason }, "a revocation could not be told");
    }
    return count;
  }

  #signOut(): void {
    this.#current = null;
    this.#cookie.forget();
    const { auth, challenge } = this.#ctx.identity;
    if (auth === "session") identify(this.#ctx, challenge === undefined ? NOBODY : { ...NOBODY, challenge });
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
