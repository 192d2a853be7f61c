import type { Readable } from "node:stream";
import type { RawPath, RawQuery } from "../exchange/exchange.ts";
import type { Credential } from "../identity/credential.ts";
import type { AuthScope, Caller } from "../identity/identity.ts";
import type { SessionManager } from "../identity/session-manager.ts";

/** The caller, the backend that authenticated it, and its credential, as `request.scope` holds them. */
export interface RequestScope<U = Caller, S = AuthScope | null> {
  readonly user: U;
  readonly auth: S;
  /** The facts about the credential, such as the `claims` of a token; `undefined` for an anonymous caller. */
  readonly credential?: Credential;
}

/**
 * The request that a handler receives. `params`, `query` and `body` are the output of the route's schemas. The methods that
 * read the body are for routes without a `body` schema. They read it once, and return the same value when called again.
 */
export interface PorticoRequest<U = Caller, S = AuthScope | null, Path = RawPath, Body = unknown, Query = RawQuery> {
  readonly method: string;
  /** The full URL, with the protocol and host that the client sees, from `publicUrl` or trusted proxies. */
  readonly url: string;
  /** Names in lower case; a header sent several times is joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies: Readonly<Record<string, string | undefined>>;
  /** The client's address, as trusted proxies forward it. */
  readonly ip: string;
  readonly user: U;
  readonly scope: RequestScope<U, S>;
  /** Signs users in and out, lists and revokes sessions. Throws if no `SessionMiddleware` runs before. */
  readonly sessions: SessionManager;
  /** Aborts when the client disconnects or the request times out. */
  readonly signal: AbortSignal;
  readonly params: Path;
  readonly query: Query;
  readonly body: Body;
  /** The body as JSON. 415 for another content type, 400 for invalid JSON, 413 above `maxBody`. */
  json(): Promise<unknown>;
  /** The body as text, decoded from UTF-8. */
  text(): Promise<string>;
  /** The raw body. */
  bytes(): Promise<Uint8Array>;
  /** The body as a form, urlencoded or multipart, in memory. Throws 400 for a file name that no file of a person has. */
  form(): Promise<FormData>;
  /** The body as a stream. `maxBody` does not apply to it. */
  readonly stream: Readable;
}
