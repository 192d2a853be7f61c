import type { KeyRing } from "../../core/key-ring.ts";
import type { HttpContext, WebSocketContext } from "../../http/context/http-context.ts";
import { type PresentedCookie, readSessionCookie, SESSION_COOKIE, sealId } from "./session-cookie.ts";

/** The session's cookie as one request has it: what came, and what the answer says about it. */
export class RequestCookie {
  readonly #ctx: HttpContext | WebSocketContext;
  readonly #ring: KeyRing;
  #presented: PresentedCookie | undefined;
  #isSent = false;

  constructor(ctx: HttpContext | WebSocketContext, ring: KeyRing) {
    this.#ctx = ctx;
    this.#ring = ring;
  }

  /** Whether the answer sets the cookie, or takes it away. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** What came; after `send` and `forget`, what the client will have. */
  get presented(): PresentedCookie {
    this.#presented ??= readSessionCookie(this.#ring, this.#ctx.exchange.headers.cookie);
    return this.#presented;
  }

  /** Without an age the browser forgets it when it is closed. */
  send(id: string, maxAgeSeconds: number | undefined): void {
    this.#presented = { kind: "signed", id, key: "newest" };
    this.#write(sealId(this.#ring, id), maxAgeSeconds);
  }

  forget(): void {
    this.#presented = { kind: "none" };
    if (this.#ctx.exchange.headers.cookie !== undefined || this.#isSent) this.#write("", 0);
  }

  /** Only over HTTP: the answer to an upgrade sets no cookies. */
  #write(value: string, maxAgeSeconds: number | undefined): void {
    if (this.#ctx.kind !== "http") return;
    const { outgoing } = this.#ctx;
    const before = outgoing.headers["set-cookie"];
    // One answer says one thing about it, the last.
    if (Array.isArray(before))
      outgoing.headers["set-cookie"] = before.filter((cookie) => !cookie.startsWith(`${SESSION_COOKIE}=`));
    outgoing.cookie(SESSION_COOKIE, value, maxAgeSeconds === undefined ? {} : { maxAgeSeconds });
    this.#isSent = true;
  }
}
