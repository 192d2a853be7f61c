import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Identity } from "./identity.ts";

/** The header by which a request of a test says as whom it acts. */
export const ACTING_AS = "x-portico-acting-as";

/** Whom the requests of a test act as, by a ticket that cannot be guessed. Nobody has one in an application that runs. */
export class Actors {
  readonly #identities = new Map<string, Identity>();

  /** The ticket for the header. */
  enlist(identity: Identity): string {
    const ticket = randomUUID();
    this.#identities.set(ticket, identity);
    return ticket;
  }

  identityOf(headers: IncomingHttpHeaders): Identity | undefined {
    if (this.#identities.size === 0) return undefined;
    const ticket = headers[ACTING_AS];
    return typeof ticket === "string" ? this.#identities.get(ticket) : undefined;
  }
}
