import { parseSetCookie } from "cookie-es";
import type { PreparedRequest, Sender } from "./test-client.ts";
import { setCookies } from "./test-response.ts";

/** A cookie as it is sent back. */
interface KeptCookie {
  readonly pair: string;
  readonly name: string;
  readonly path: string;
}

/**
 * The cookies of one client, as a browser keeps them: by name and path, until an answer takes them away. A test is on one site
 * and trusts it, so `Secure` and `Domain` do not matter; and its clock is moved by hand, so none runs out by itself.
 */
export class CookieJar {
  readonly #cookies = new Map<string, KeptCookie>();

  /** Keeps what an answer has set, and forgets what it has taken away. */
  take(lines: readonly string[]): void {
    for (const line of lines) {
      // The value goes back as it came.
      const cookie = parseSetCookie(line, { decode: false });
      if (cookie === undefined) continue;
      const { name, value, path = "/" } = cookie;
      const key = `${name} ${path}`;
      if (isOver(cookie)) this.#cookies.delete(key);
      else this.#cookies.set(key, { pair: `${name}=${value}`, name, path });
    }
  }

  /** The header for a request to this path, with the longest paths first; none without a cookie for it. */
  headers(target: string): Readonly<Record<string, string>> {
    const path = target.split("?", 1)[0] ?? "";
    const sent = [...this.#cookies.values()]
      .filter((cookie) => isBelow(path, cookie.path))
      .toSorted((a, b) => b.path.length - a.path.length);
    return sent.length === 0 ? {} : { cookie: sent.map(({ pair }) => pair).join("; ") };
  }
}

/** The same way to send, with the cookies of a jar. A `cookie` header of the request itself counts instead of them. */
export function sendingCookies({ send, open }: Sender, jar: CookieJar): Sender {
  const withCookies = (request: PreparedRequest): PreparedRequest => ({
    ...request,
    headers: { ...jar.headers(request.target), ...request.headers },
  });
  return {
    async send(request) {
      const answer = await send(withCookies(request));
      jar.take(answer.cookies);
      return answer;
    },
    async open(request) {
      const answer = await open(withCookies(request));
      jar.take(setCookies(answer.headers));
      return answer;
    },
  };
}

/** RFC 6265 section 5.3: `Max-Age` counts before `Expires`. */
function isOver({ maxAge, expires }: NonNullable<ReturnType<typeof parseSetCookie>>): boolean {
  if (maxAge !== undefined) return maxAge <= 0;
  return expires !== undefined && expires.getTime() <= Date.now();
}

/** RFC 6265 section 5.1.4. */
function isBelow(path: string, cookiePath: string): boolean {
  if (path === cookiePath) return true;
  return path.startsWith(cookiePath.endsWith("/") ? cookiePath : `${cookiePath}/`);
}
