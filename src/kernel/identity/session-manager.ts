import { FeatureSlot } from "../../core/feature-slot.ts";
import type { AssuranceLevel } from "./credential.ts";
import type { CurrentUser } from "./identity.ts";

/** A session as its owner sees it. It contains nothing that could be used to sign in. */
export interface DeviceSession {
  /** The id to pass to `revoke`. */
  readonly id: string;
  /** Whether this request used it, or a token that belongs to it. */
  readonly current: boolean;
  /** The device it was started on, as reported by the browser. It is plain text: escape it like any other input. */
  readonly device: string;
  /** The address it was started from. */
  readonly address: string;
  readonly createdAt: Date;
  /** Exact to the minute. */
  readonly lastSeenAt: Date;
  /** When it ends without another request. */
  readonly expiresAt: Date;
}

/** Options for starting a session. */
export interface LoginOptions {
  /** Keeps the cookie after the browser is closed, with a longer session lifetime. @default false */
  readonly remember?: boolean;
  /** How strongly the user has just signed in: `"mfa"` after a second factor. @default one factor */
  readonly level?: AssuranceLevel;
}

/**
 * The type of `request.sessions`: the session of this request, and all sessions of its user. If no one is signed in, the list
 * is empty and there is nothing to revoke.
 *
 * @example
 * ```ts
 * import { NotFound, PorticoApp } from "portico";
 * import { useAuth } from "portico/auth";
 *
 * const app = new PorticoApp();
 * app.get("/sessions", { auth: useAuth() }, ({ request }) => request.sessions.list());
 * app.delete("/sessions/:id", { auth: useAuth() }, async ({ request, path }) => {
 *   if (!(await request.sessions.revoke(path.id))) throw new NotFound();
 * });
 * app.post("/logout", ({ request }) => request.sessions.logout());
 * ```
 */
export interface SessionManager {
  /**
   * Signs the user in: starts a new session with a new id, and sets its cookie on the response. The session that the request
   * came with ends at once. From here on `request.user` is this user. Call it again after the user has re-authenticated or
   * gained privileges.
   *
   * Throws 403 `CROSS_SITE_REFUSED` if a page of a foreign origin sent the request, 403 for a request with a narrowed
   * credential, such as an API key with permissions, and an `Error` on a socket, which cannot set cookies.
   */
  login(user: CurrentUser, options?: LoginOptions): Promise<void>;
  /**
   * Starts a session without a cookie, for a device that signs in with tokens. It is listed and revoked like any other, and
   * lives as long as a remembered one. Returns its id, which is the `sid` of `TokenForUser`. The current caller does not
   * change.
   *
   * Throws 403 `CROSS_SITE_REFUSED` if a page of a foreign origin sent the request.
   */
  begin(user: CurrentUser, options?: Pick<LoginOptions, "level">): Promise<string>;
  /** Ends the session of this request, also if the request used one of its tokens, and deletes the cookie. */
  logout(): Promise<void>;
  /** The user's live sessions, the newest first. */
  list(): Promise<readonly DeviceSession[]>;
  /** Ends one of the user's sessions; `false` if the user has no session with that id. */
  revoke(id: string): Promise<boolean>;
  /** Ends all of the user's sessions except the one of this request, and returns how many. */
  revokeOthers(): Promise<number>;
  /** Ends all of the user's sessions, including the one of this request, and returns how many. */
  revokeAll(): Promise<number>;
}

/** The sessions of a context; `null` where no middleware provides them. */
export const sessionsOf: FeatureSlot<SessionManager | null> = new FeatureSlot<SessionManager | null>(null);
