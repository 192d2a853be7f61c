import type { IncomingMessage } from "node:http";
import { inBackground } from "../../core/work/in-background.ts";
import type { Gate } from "../../kernel/access/gate.ts";
import { readRouteGate, type WrittenAuth } from "../../kernel/access/read-gate.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import { withContext } from "../../kernel/context/current-context.ts";
import { HttpContext } from "../../kernel/context/http-context.ts";
import type { MiddlewareFunction } from "../../kernel/context/middleware-function.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import { checkCredential } from "../../kernel/identity/check-credential.ts";
import type { HostExchange } from "../engine/host-exchange.ts";
import { checkHost } from "../engine/host-name.ts";
import { compose } from "../routing/middleware.ts";
import { closeQuietly, statusOf } from "./respond.ts";
import type { RunRoute } from "./run-route.ts";

/** Identifies the callers of routes that belong to the server around the application. */
export class HostRequests {
  readonly #services: AppServices;
  readonly #maxBody: number;
  readonly #run: RunRoute;
  /** By request, so that a request which is identified twice uses its API key once. */
  readonly #contexts = new WeakMap<IncomingMessage, Promise<HttpContext>>();
  readonly #gates = new WeakMap<object, Gate>();

  constructor(services: AppServices, maxBody: number, middleware: readonly MiddlewareFunction[]) {
    this.#services = services;
    this.#maxBody = maxBody;
    this.#run = compose<HttpContext>(middleware, (ctx) => {
      // The host's response depends on the caller from now on. Reading the identity makes the middleware say so in `Vary`.
      ctx.state.set(REACHED, ctx.identity);
    });
  }

  /** Runs the middleware for the request, once, then asks the gate. */
  async identify(exchange: HostExchange, auth: WrittenAuth | undefined): Promise<HttpContext> {
    const gate = this.#gateOf(auth);
    let context = this.#contexts.get(exchange.request);
    if (context === undefined) {
      context = this.#context(exchange);
      this.#contexts.set(exchange.request, context);
    }
    const ctx = await context;
    // Without a gate nothing else would tell an outage from an anonymous caller.
    if (gate === undefined && ctx.identity.failure !== undefined) checkCredential(ctx.identity);
    await withContext(ctx, () => gate?.check(ctx));
    return ctx;
  }

  async #context(exchange: HostExchange): Promise<HttpContext> {
    const refusal = checkHost(exchange.headers.host, exchange.rawHeaders);
    if (refusal !== null) throw refusal;
    const ctx = new HttpContext(this.#services, exchange, this.#maxBody);
    exchange.addHeaders(() => {
      ctx.outgoing.restrictCaching();
      return ctx.outgoing.headers;
    });
    exchange.response.once("close", () => inBackground(closeQuietly(ctx), ctx.log));
    await withContext(ctx, this.#run);
    if (!ctx.state.has(REACHED)) throw unreached(ctx);
    return ctx;
  }

  /** A gate function is read once, because its source tells how it is called. */
  #gateOf(auth: WrittenAuth | undefined): Gate | undefined {
    if (auth === undefined || typeof auth === "boolean") return readRouteGate("identify.auth", auth);
    const gate = this.#gates.get(auth) ?? readRouteGate("identify.auth", auth);
    if (gate !== undefined) this.#gates.set(auth, gate);
    return gate;
  }
}

/** The key of the identity, which is there when every middleware has called `next()`. */
const REACHED = Symbol("reached");

/** A middleware has responded itself. The host's handler must not run, and only the host can respond. */
function unreached({ outgoing }: HttpContext): Error {
  const status = outgoing.body === null && outgoing.code === null ? 500 : statusOf(outgoing);
  if (status >= 400 && status < 500) return new HttpException(status, "A middleware rejected the request");
  return new Error("identify: a middleware did not call next(), so the caller is unknown");
}
