import { describeError, isInstance } from "../../core/describe-error.ts";
import { nodeHttp } from "../../core/node-http.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { logUnexpected } from "../../kernel/context/log-failure.ts";
import type { RenderError } from "../../kernel/context/messages.ts";
import { isForClients, isOutage } from "../../kernel/exceptions/is-for-clients.ts";
import type { Exchange } from "../../kernel/exchange/exchange.ts";
import { asksForPage } from "../html/parse-accept.ts";
import { hasErrorPage, writeErrorPage } from "./write-error-page.ts";

/** The response for an error: RFC 9457, `application/problem+json`. */
interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * The response for an error without an exception handler. For an unexpected error the client receives only a correlation id,
 * which is also in the one log line written here.
 */
function problemOf(error: unknown, services: AppServices, exchange: Exchange): Problem {
  if (isForClients(error)) {
    const { status, code, message, headers, members } = error;
    return { status, headers: { ...headers, ...PROBLEM_JSON }, body: { ...head(status, message, code), ...members } };
  }
  const id = logUnexpected(services, exchange, error);
  const [status, code] = isOutage(error) ? [503, error.code] : [500, "INTERNAL_SERVER_ERROR"];
  const headers = isInstance(error, PorticoError) ? error.headers : {};
  const detail = services.debug
    ? (isInstance(error, Error) && error.stack) || describeError(error)
    : "An unexpected error occurred";
  return {
    status,
    headers: { ...headers, ...PROBLEM_JSON },
    body: { ...head(status, detail, code), correlation_id: id },
  };
}

/** The default way to render an error: a page for a browser that asks for one, otherwise a problem. */
export const renderProblem: RenderError = Object.assign(writeProblem, {
  variantOf: (exchange: Exchange) => (isForBrowser(exchange) ? "page" : "problem"),
});

function writeProblem(ctx: BaseContext, error: unknown): void {
  const { services, exchange, outgoing } = ctx;
  const { status, headers, body } = problemOf(error, services, exchange);
  for (const [name, value] of Object.entries(headers)) outgoing.header(name, value);
  outgoing.status(status);
  const { correlation_id: id } = body;
  if (!services.debug && hasErrorPage(status) && isForBrowser(exchange))
    writeErrorPage(ctx, status, { correlationId: typeof id === "string" ? id : undefined });
  else outgoing.json(body);
}

/** Whether a browser opens the URL as a page. A script of a page, such as `fetch`, accepts everything alike. */
export function isForBrowser({ headers }: Pick<Exchange, "headers">): boolean {
  return asksForPage(headers.accept, ["application/json"]);
}

const PROBLEM_JSON = { "content-type": "application/problem+json; charset=utf-8", "cache-control": "no-store" };

function head(status: number, detail: string, code: string): Record<string, unknown> {
  return {
    type: "about:blank",
    title: nodeHttp.STATUS_CODES[status] ?? "Error",
    status,
    detail,
    code: code.toLowerCase(),
  };
}
