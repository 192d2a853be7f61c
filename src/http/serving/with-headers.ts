import type { IncomingHttpHeaders } from "node:http";
import type { UpgradeExchange } from "../context/exchange.ts";

/** The same upgrade, as if its request had come with these headers in the place of its own. Names in lower case. */
export function withHeaders(exchange: UpgradeExchange, headers: Readonly<Record<string, string>>): UpgradeExchange {
  const replaced: IncomingHttpHeaders = { ...exchange.headers, ...headers };
  const kept = exchange.rawHeaders.filter((_, index) => {
    const name = exchange.rawHeaders[index - (index % 2)]?.toLowerCase() ?? "";
    return !Object.hasOwn(headers, name);
  });
  const rawHeaders = [...kept, ...Object.entries(headers).flat()];
  return new Proxy(exchange, {
    get(target, key) {
      if (key === "headers") return replaced;
      if (key === "rawHeaders") return rawHeaders;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
