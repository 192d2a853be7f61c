import type { AppServices } from "../../kernel/context/app-services.ts";
import { BaseContext, type CachePolicy } from "../../kernel/context/http-context.ts";
import type { Incoming } from "../../kernel/context/messages.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import type { HttpExchange } from "../../kernel/exchange/exchange.ts";
import type { Identity } from "../../kernel/identity/identity.ts";

/**
 * The context of a subscription that runs once for all clients. It has no connection and no caller, and throws for everything
 * that would make events differ between clients.
 */
export class SharedContext extends BaseContext {
  readonly kind = "websocket" as const;

  constructor(services: AppServices, path: string) {
    super(services, sharedExchange(path), 0);
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
  override get incoming(): Incoming {
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

/** An exchange without a client, which gives the log a method and a path. */
function sharedExchange(path: string): HttpExchange {
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
    isGone: false,
    arrivedBody: () => null,
    onAbort() {},
    send() {},
    cut() {},
    breakOff: () => false,
  };
}
