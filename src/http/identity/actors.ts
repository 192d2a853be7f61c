import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import type { Identity } from "./identity.ts";

/** The header by which a request of a test says as whom it acts. */
export const ACTING_AS = "x-portico-acting-as";

/** For so long a ticket is valid. */
const TICKET_MS = 3_600_000;

interface Ticket {
  readonly identity: Identity;
  readonly endsAt: number;
}

/** The users that requests of a test act as, by tickets that cannot be guessed and expire. In production there are none. */
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
        "signs in without a credential: it is for tests and refused in production",
      );
    const now = this.#clock.monotonic();
    // In the order in which they were made, which is the order in which they end.
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
