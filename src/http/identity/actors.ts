import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import type { Identity } from "./identity.ts";

/** The header that selects the user a test request acts as. */
export const ACTING_AS = "x-portico-acting-as";

/** The lifetime of a ticket. */
const TICKET_MS = 3_600_000;

interface Ticket {
  readonly identity: Identity;
  readonly endsAt: number;
}

/** The users that test requests act as, by tickets that expire and cannot be guessed. There are none in production. */
export class Actors {
  readonly #clock: Clock;
  readonly #tickets = new Map<string, Ticket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The ticket for the header. Throws `ConfigurationError` in production. */
  enlist(identity: Identity): string {
    if (isProduction())
      throw new ConfigurationError(
        "actingAs",
        "must not be used in production: it signs users in without a credential, for tests",
      );
    const now = this.#clock.monotonic();
    // The map is in order of creation, which is also the order of expiry.
    for (const [ticket, { endsAt }] of this.#tickets) {
      if (endsAt > now) break;
      this.#tickets.delete(ticket);
    }
    const ticket = randomUUID();
    this.#tickets.set(ticket, { identity, endsAt: now + TICKET_MS });
    return ticket;
  }

  identityOf(headers: IncomingHttpHeaders): Identity | undefined {
    if (this.#tickets.size === 0 || isProduction()) return undefined;
    const name = headers[ACTING_AS];
    const ticket = typeof name === "string" ? this.#tickets.get(name) : undefined;
    return ticket !== undefined && this.#clock.monotonic() < ticket.endsAt ? ticket.identity : undefined;
  }
}
