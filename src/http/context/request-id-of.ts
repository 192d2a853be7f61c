import { correlationId } from "../../core/correlation-id.ts";
import type { Exchange } from "./exchange.ts";

/** What proxies and tracers make. Anything else would let a client write what it likes into every line of the log. */
const ID = /^[\w.:/+=@-]{1,128}$/;

const replaced = new WeakMap<Exchange, string>();

/**
 * The id by which the log lines of a request are found, as a proxy or a tracer gave it: `x-request-id`, else `traceparent`. One
 * that is too long or holds other characters is replaced, by the same id in all lines of the request.
 */
export function requestIdOf(exchange: Exchange): string | undefined {
  const given = [exchange.headers["x-request-id"], exchange.headers["traceparent"]].filter((id) => id !== undefined);
  if (given.length === 0) return undefined;
  const id = given.find((value): value is string => typeof value === "string" && ID.test(value));
  if (id !== undefined) return id;
  const fresh = replaced.get(exchange) ?? correlationId();
  replaced.set(exchange, fresh);
  return fresh;
}
