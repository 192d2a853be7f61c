import { correlationId } from "../../core/correlation-id.ts";
import { cut } from "../../core/cut.ts";
import { nodeHttp } from "../../core/node-http.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { isForClients, isOutage } from "../exceptions/is-for-clients.ts";
import type { AppServices } from "./app-services.ts";
import type { Exchange } from "./exchange.ts";
import type { BaseContext } from "./http-context.ts";
import { requestIdOf } from "./request-id-of.ts";

/** Writes the response for an error into the context. */
export type RenderError = (ctx: BaseContext, error: unknown) => void;

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
  const headers = error instanceof PorticoError ? error.headers : {};
  const detail = services.debug ? String((error as Error | undefined)?.stack ?? error) : "An unexpected error occurred";
  return {
    status,
    headers: { ...headers, ...PROBLEM_JSON },
    body: { ...head(status, detail, code), correlation_id: id },
  };
}

/** The default way to render an error. */
export const renderProblem: RenderError = ({ services, exchange, outgoing }, error) => {
  const { status, headers, body } = problemOf(error, services, exchange);
  for (const [name, value] of Object.entries(headers)) outgoing.header(name, value);
  outgoing.status(status);
  outgoing.json(body);
};

/** Logs an error whose details the client must not see, and returns the correlation id in that log line. */
export function logUnexpected(services: AppServices, exchange: Exchange, error: unknown): string {
  const id = correlationId();
  const code = error instanceof PorticoError ? error.code : "INTERNAL_SERVER_ERROR";
  logFailure(services, exchange, error, { correlation_id: id, code });
  return id;
}

/** Logs one error. The path is logged without its query, which may contain sensitive data. */
export function logFailure(
  services: AppServices,
  exchange: Exchange,
  error: unknown,
  details: object = {},
  level: "info" | "error" = "error",
): void {
  const line = { err: error, ...whereOf(exchange), ...details };
  services.log[level](
    line,
    error instanceof Error ? cut(error.message, MOST_LOGGED) : "a value that is not an Error was thrown",
  );
}

/** Logs a rejected request, which is not a failure of the application: its message, without a stack. */
export function logRefusal(services: AppServices, exchange: Exchange, sentence: string, details: object): void {
  services.log.info({ ...whereOf(exchange), ...details }, cut(sentence, MOST_LOGGED));
}

/** The maximum length of a message and a path in the log, because clients can influence both. */
const MOST_LOGGED = 300;

function whereOf(exchange: Exchange): object {
  return {
    method: exchange.method,
    path: cut(exchange.target.split("?", 1)[0] as string, MOST_LOGGED),
    request_id: requestIdOf(exchange),
  };
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
