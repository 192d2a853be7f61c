import { correlationId } from "../../core/correlation-id.ts";
import { isInstance, loggable } from "../../core/describe-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { shorten } from "../../core/shorten.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { requestIdOf } from "../exchange/request-id-of.ts";
import type { AppServices } from "./app-services.ts";

/** Logs an error whose details the client must not see, and returns the correlation id in that log line. */
export function logUnexpected(services: AppServices, exchange: Exchange, error: unknown): string {
  const id = correlationId();
  const code = isInstance(error, PorticoError) ? error.code : "INTERNAL_SERVER_ERROR";
  logFailure(services, exchange, error, { correlation_id: id, code });
  services.requestHooks.observationOf(exchange)?.logged(id);
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
  const line = { err: loggable(error), ...whereOf(exchange), ...details };
  services.log[level](
    line,
    isInstance(error, Error) ? shorten(error.message, MAX_LOGGED) : "a value that is not an Error was thrown",
  );
}

/** Logs a rejected request, which is not a failure of the application: its message, without a stack. */
export function logRefusal(services: AppServices, exchange: Exchange, sentence: string, details: object): void {
  services.log.info({ ...whereOf(exchange), ...details }, shorten(sentence, MAX_LOGGED));
}

/** The maximum length of a message and a path in the log, because clients can influence both. */
const MAX_LOGGED = 300;

function whereOf(exchange: Exchange): object {
  return {
    method: exchange.method,
    path: shorten(exchange.target.split("?", 1)[0] as string, MAX_LOGGED),
    request_id: requestIdOf(exchange),
  };
}
