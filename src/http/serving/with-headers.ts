import type { IncomingHttpHeaders } from "node:http";
import type { AcceptOptions, RawSocket, UpgradeExchange } from "../../kernel/exchange/exchange.ts";
import { DelegatedExchange } from "../engine/delegated-exchange.ts";

/** An upgrade whose request has these headers instead of the ones it was sent with. Names are in lower case. */
export function withHeaders(exchange: UpgradeExchange, headers: Readonly<Record<string, string>>): UpgradeExchange {
  return new WithHeaders(exchange, headers);
}

class WithHeaders extends DelegatedExchange {
  protected readonly inner: UpgradeExchange;
  readonly #headers: IncomingHttpHeaders;
  readonly #rawHeaders: readonly string[];

  constructor(inner: UpgradeExchange, headers: Readonly<Record<string, string>>) {
    super();
    this.inner = inner;
    this.#headers = { ...inner.headers, ...headers };
    const kept = inner.rawHeaders.filter((_, index) => {
      const name = inner.rawHeaders[index - (index % 2)] as string;
      return !Object.hasOwn(headers, name.toLowerCase());
    });
    this.#rawHeaders = [...kept, ...Object.entries(headers).flat()];
  }

  override get headers(): IncomingHttpHeaders {
    return this.#headers;
  }
  override get rawHeaders(): readonly string[] {
    return this.#rawHeaders;
  }
  accept(options: AcceptOptions): Promise<RawSocket> {
    return this.inner.accept(options);
  }
}
