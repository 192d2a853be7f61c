import type { CurrentUser } from "./identity.ts";

/** A session as its owner sees it. Nothing in it signs anybody in. */
export interface DeviceSession {
  /** Names it, for `revoke`. */
  readonly id: string;
  /** Whether this request came by it, or by a token of it. */
  readonly current: boolean;
  /** What it was started on, by the word of the browser: plain text, to be escaped like any other. */
  readonly device: string;
  /** The address it was started from. */
  readonly address: string;
  readonly createdAt: Date;
  /** Exact to the minute. */
  readonly lastSeenAt: Date;
  /** When it ends without another request. */
  readonly expiresAt: Date;
}

/** How a session starts. */
export interface LoginOptions {
  /** The cookie outlives the browser, and the session lives longer. @default false */
  readonly remember?: boolean;
}

/**
 * What `request.sessions` is: the session of this request, and all those of its user. Without somebody signed in, the list is
 * empty and there is nothing to revoke.
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
   * Signs the user in: a new session with a new id, whose cookie goes out with the answer. The session that the request came
   * by ends at once. From here on `request.user` is this user. Call it again when somebody proves again who they are, and
   * when they may do more than before.
   *
   * Throws 403 `CROSS_SITE_REFUSED` when a page of a foreign origin sent the request, 403 for the user of a request that came by a
   * narrowed credential, such as an API key with permissions, and an `Error` on a socket, which cannot set cookies.
   */
  login(user: CurrentUser, options?: LoginOptions): Promise<void>;
  /**
   * Starts a session that no cookie carries, for a device that signs in by tokens: it is listed and ended like any other, and
   * lives like a remembered one. Gives its id, which is the `sid` of `TokenForUser`. Who is calling stays as it is.
   *
   * Throws 403 `CROSS_SITE_REFUSED` when a page of a foreign origin sent the request.
   */
  begin(user: CurrentUser): Promise<string>;
  /** Ends the session that the request came by, also by a token of it, and tells the browser to forget its cookie. */
  logout(): Promise<void>;
  /** The user's live sessions, the newest first. */
  list(): Promise<readonly DeviceSession[]>;
  /** Ends one of the user's sessions; `false` when the user has none by that id. */
  revoke(id: string): Promise<boolean>;
  /** Ends all of the user's sessions but the one of this request, and says how many. */
  revokeOthers(): Promise<number>;
  /** Ends all of the user's sessions, the one of this request too, and says how many. */
  revokeAll(): Promise<number>;
}
