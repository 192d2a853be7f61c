import { parseSetCookie } from "cookie-es";
import type { PreparedRequest, RequestSender } from "./test-request.ts";
import { setCookies } from "./test-response.ts";

/** A cookie as the client sends it back. */
interface KeptCookie {
  readonly pair: string;
  readonly name: string;
  readonly path: string;
}

/**
 * The cookies of one client, stored as in a browser: by name and path, until a response deletes them. A test has one
 * site and trusts it, so `Secure` and `Domain` are ignored. Its clock is moved manually, so cookies do not expire on
 * their own.
 */
export class CookieJar {
  readonly #cookies = new Map<string, KeptCookie>();

  /** Stores the cookies that a response sets, and removes those it deletes. */
  take(lines: readonly string[]): void {
    for (const line of lines) {
      // The value is sent back unchanged.
      const cookie = parseSetCookie(line, { decode: false });
      if (cookie === undefined) continue;
      const { name, value, path = "/" } = cookie;
      const key = `${name} ${path}`;
      if (isOver(cookie)) this.#cookies.delete(key);
      else this.#cookies.set(key, { pair: `${name}=${value}`, name, path });
    }
  }

  /** Returns the `cookie` header for a request to this path, longest paths first, or nothing if no cookie matches. */
  headers(target: string): Readonly<Record<string, string>> {
    const path = target.split("?", 1)[0] ?? "";
    const sent = [...this.#cookies.values()]
      .filter((cookie) => isBelow(path, cookie.path))
      .toSorted((a, b) => b.path.length - a.path.length);
    return sent.length === 0 ? {} : { cookie: sent.map(({ pair }) => pair).join("; ") };
  }
}

/** Adds the cookies of a jar to a sender. A `cookie` header of the request itself replaces them. */
export function sendingCookies({ send, open }: RequestSender, jar: CookieJar): RequestSender {
  const withCookies = (request: PreparedRequest): PreparedRequest => ({
    ...request,
    headers: { ...jar.headers(request.target), ...request.headers },
  });
  return {
    async send(request) {
      const response = await send(withCookies(request));
      jar.take(response.cookies);
      return response;
    },
    async open(request) {
      const response = await open(withCookies(request));
      jar.take(setCookies(response.headers));
      return response;
    },
  };
}

/** `Max-Age` takes precedence over `Expires` (RFC 6265 section 5.3). */
function isOver({ maxAge, expires }: NonNullable<ReturnType<typeof parseSetCookie>>): boolean {
  if (maxAge !== undefined) return maxAge <= 0;
  return expires !== undefined && expires.getTime() <= Date.now();
}

/** The path-match rule of RFC 6265 section 5.1.4. */
function isBelow(path: string, cookiePath: string): boolean {
  if (path === cookiePath) return true;
  return path.startsWith(cookiePath.endsWith("/") ? cookiePath : `${cookiePath}/`);
}
