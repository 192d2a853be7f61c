import type { AppServices } from "../../http/context/app-services.ts";
import type { HttpExchange } from "../../http/context/exchange.ts";
import { BaseContext, type CachePolicy } from "../../http/context/http-context.ts";
import { HttpException } from "../../http/context/http-exception.ts";
import type { IncomingRequest, PorticoRequest } from "../../http/context/portico-request.ts";
import type { Identity } from "../../http/identity/identity.ts";

/**
 * The context of a subscription that is executed once for everybody: it belongs to no connection, and knows no caller. What
 * would make its events differ between clients throws.
 */
export class SharedContext extends BaseContext {
  readonly kind = "websocket" as const;

  constructor(services: AppServices, path: string) {
    super(services, nobodysExchange(path), 0);
  }

  override get identity(): Identity {
    throw refused("the caller");
  }
  override set identity(_identity: Identity) {
    throw refused("the caller");
  }
  override get request(): PorticoRequest {
    throw refused("the request");
  }
  override get incoming(): IncomingRequest {
    throw refused("the request");
  }
  cache(_policy: CachePolicy): void {}
}

function refused(what: string): HttpException {
  return new HttpException(
    500,
    `A subscription with { shared: true } runs once for all clients, so it cannot read ${what}`,
    {
      code: "SHARED_SUBSCRIPTION",
    },
  );
}

/** What the log shows of it. */
function nobodysExchange(path: string): HttpExchange {
  const nothing = { params: {}, query: {}, headers: {}, rawHeaders: [], ip: "", host: "localhost", protocol: "http" };
  return {
    ...nothing,
    method: "SUBSCRIBE",
    target: path,
    isUnpacked: false,
    body() {
      throw refused("the request");
    },
    isInjected: true,
    watchBody() {},
    onAbort() {},
    send() {},
    cut() {},
    breakOff: () => false,
  };
}
