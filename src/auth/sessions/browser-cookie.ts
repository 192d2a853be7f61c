import { randomBytes } from "node:crypto";
import { parse as parseCookies } from "cookie-es";
import type { HttpContext } from "../../kernel/context/http-context.ts";

const FORM = /^[\w-]{43}$/;

/**
 * Binds something that a browser has begun to that browser, by a random value in a cookie. The prefix `__Host-` makes
 * browsers require TLS, this exact host and the path `/`.
 */
export class BrowserCookie {
  readonly #name: `__Host-${string}`;
  readonly #maxAgeSeconds: number;

  constructor(name: `__Host-${string}`, maxAgeSeconds: number) {
    this.#name = name;
    this.#maxAgeSeconds = maxAgeSeconds;
  }

  /** Returns the value of the request, or `null` if it is missing, malformed or sent twice. */
  read({ exchange }: HttpContext): string | null {
    const { [this.#name]: value } = parseCookies(exchange.headers.cookie ?? "", {
      allowMultiple: true,
      filter: (name) => name === this.#name,
      decode: (text) => text,
    });
    return typeof value === "string" && FORM.test(value) ? value : null;
  }

  /** Sends the cookie and returns its value. A value of the request is kept, so that tabs do not disturb each other. */
  send(ctx: HttpContext): string {
    return this.#send(ctx, this.read(ctx) ?? random());
  }

  /** Sends the cookie with a new value and returns it, so that nothing that was begun before can be completed. */
  renew(ctx: HttpContext): string {
    return this.#send(ctx, random());
  }

  forget({ outgoing }: HttpContext): void {
    outgoing.clearCookie(this.#name);
  }

  #send({ outgoing }: HttpContext, value: string): string {
    outgoing.cookie(this.#name, value, { maxAgeSeconds: this.#maxAgeSeconds });
    return value;
  }
}

function random(): string {
  return randomBytes(32).toString("base64url");
}
