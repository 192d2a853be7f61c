import type { KeyRing } from "../../core/key-ring.ts";
import type { HttpContext, WebSocketContext } from "../../kernel/context/http-context.ts";
import { type PresentedCookie, readSessionCookie, SESSION_COOKIE, sealId } from "./session-cookie.ts";

/** The session cookie of one request and of its response. */
export class RequestCookie {
  readonly #ctx: HttpContext | WebSocketContext;
  readonly #ring: KeyRing;
  #presented: PresentedCookie | undefined;
  #isSent = false;

  constructor(ctx: HttpContext | WebSocketContext, ring: KeyRing) {
    this.#ctx = ctx;
    this.#ring = ring;
  }

  /** Whether the response sets or deletes the cookie. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** The cookie of the request; after `send` or `forget`, the cookie that the client will have. */
  get presented(): PresentedCookie {
    this.#presented ??= readSessionCookie(this.#ring, this.#ctx.exchange.headers.cookie);
    return this.#presented;
  }

  /** Sends a cookie. Without an age it lasts until the browser is closed. */
  send(id: string, maxAgeSeconds: number | undefined): void {
    this.#presented = { kind: "signed", id, key: "newest" };
    this.#write(sealId(this.#ring, id), maxAgeSeconds);
  }

  forget(): void {
    this.#presented = { kind: "none" };
    if (this.#ctx.exchange.headers.cookie !== undefined || this.#isSent) this.#write("", 0);
  }

  /** Does nothing on a WebSocket: the response to an upgrade sets no cookies. */
  #write(value: string, maxAgeSeconds: number | undefined): void {
    if (this.#ctx.kind !== "http") return;
    const { outgoing } = this.#ctx;
    const before = outgoing.headers["set-cookie"];
    // The response must contain this cookie only once, with the last value.
    if (Array.isArray(before))
      outgoing.headers["set-cookie"] = before.filter((cookie) => !cookie.startsWith(`${SESSION_COOKIE}=`));
    outgoing.cookie(SESSION_COOKIE, value, maxAgeSeconds === undefined ? {} : { maxAgeSeconds });
    this.#isSent = true;
  }
}
