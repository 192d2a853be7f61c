import { correlationId } from "../../core/correlation-id.ts";
import type { Exchange } from "./exchange.ts";

/** The ids that proxies and tracers create. Anything else would let a client write arbitrary text into every log line. */
const ID = /^[\w.:/+=@-]{1,128}$/;

const replaced = new WeakMap<Exchange, string>();

/**
 * The id of a request in the log, from a proxy or a tracer: `x-request-id`, otherwise `traceparent`. An id that is too long or
 * contains other characters is replaced by one id for all log lines of the request.
 */
export function requestIdOf(exchange: Exchange): string | undefined {
  const { "x-request-id": own, traceparent } = exchange.headers;
  const given = [own, traceparent].filter((id) => id !== undefined).map(String);
  if (given.length === 0) return undefined;
  const id = given.find((value) => ID.test(value));
  if (id !== undefined) return id;
  const fresh = replaced.get(exchange) ?? correlationId();
  replaced.set(exchange, fresh);
  return fresh;
}
