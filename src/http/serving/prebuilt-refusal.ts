import { correlationId } from "../../core/correlation-id.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import { HttpContext } from "../../kernel/context/http-context.ts";
import type { RenderError } from "../../kernel/context/messages.ts";
import type { HttpException } from "../../kernel/exceptions/http-exception.ts";
import type { HttpExchange } from "../../kernel/exchange/exchange.ts";
import { renderProblem } from "../messages/render-problem.ts";
import { renderResponse } from "./respond.ts";

/** The part of a route that decides how a rejection looks. */
export interface RefusedRoute {
  readonly path: string;
  readonly renderError?: RenderError;
}

interface Prebuilt extends Pick<ReturnType<typeof renderResponse>, "status" | "headers"> {
  /** The body around its correlation id, which each request has for itself; one part if there is none. */
  readonly parts: readonly string[];
}

const CORRELATION_ID = /(?<="correlation(?:Id|_id)":")[^"]+/;

/**
 * Sends one error to many requests. The response is rendered once for each way to render errors, because in an overload a
 * rejection must cost little. It has the CORS headers of its own request, and request hooks see each request.
 */
export class PrebuiltRefusal {
  readonly #services: AppServices;
  readonly #error: HttpException;
  readonly #rendered = new Map<RenderError, Map<string, Prebuilt>>();

  constructor(services: AppServices, error: HttpException) {
    this.#services = services;
    this.#error = error;
  }

  /** Sends the error. Returns `false` if the application renders it for each request, with an exception handler for example. */
  send(exchange: HttpExchange, { path, renderError = renderProblem }: RefusedRoute): boolean {
    const { exceptionHandlers, origins, requestHooks } = this.#services;
    const variant = renderError.variantOf?.(exchange);
    if (variant === undefined || exceptionHandlers.find(this.#error) !== null) return false;
    const observation = requestHooks.observationOf(exchange) ?? requestHooks.observe({ exchange, pattern: path });
    const { status, headers, parts } = this.#prebuilt(exchange, renderError, variant);
    const body = parts.length === 1 ? (parts[0] as string) : parts.join(correlationId());
    exchange.send(status, origins.isEmpty ? headers : { ...headers, ...origins.corsHeaders(exchange) }, body);
    observation?.responded(status, this.#error);
    return true;
  }

  #prebuilt(exchange: HttpExchange, renderError: RenderError, variant: string): Prebuilt {
    const variants = this.#rendered.get(renderError) ?? new Map<string, Prebuilt>();
    this.#rendered.set(renderError, variants);
    let prebuilt = variants.get(variant);
    if (prebuilt === undefined) {
      const ctx = new HttpContext(this.#services, exchange, 0);
      renderError(ctx, this.#error);
      if (!this.#services.origins.isEmpty) ctx.outgoing.vary("Origin");
      const { status, headers, payload } = renderResponse(ctx);
      prebuilt = { status, headers, parts: (payload as string).split(CORRELATION_ID) };
      variants.set(variant, prebuilt);
    }
    return prebuilt;
  }
}
