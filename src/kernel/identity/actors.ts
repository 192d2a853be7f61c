import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import type { CurrentUser, Identity } from "./identity.ts";

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
  readonly #standIns = new Map<string, { readonly user: CurrentUser; readonly onLoad: () => void }>();

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

  /**
   * Lets this user sign in with real credentials for its identity, though it is not in the user model. Returns a function that
   * ends this. Throws `ConfigurationError` in production.
   *
   * @param onLoad called whenever a credential of the user is accepted
   */
  standIn(user: CurrentUser, onLoad: () => void = () => {}): () => void {
    if (isProduction())
      throw new ConfigurationError(
        "portico audit",
        "must not attack in production: it signs in users who do not exist",
      );
    this.#standIns.set(user.identity, { user, onLoad });
    return () => {
      this.#standIns.delete(user.identity);
    };
  }

  /** The user that stands in for a real one with this identity. */
  standInOf(identity: string): CurrentUser | undefined {
    if (this.#standIns.size === 0 || isProduction()) return undefined;
    const found = this.#standIns.get(identity);
    found?.onLoad();
    return found?.user;
  }

  identityOf(headers: IncomingHttpHeaders): Identity | undefined {
    if (this.#tickets.size === 0 || isProduction()) return undefined;
    const name = headers[ACTING_AS];
    const ticket = typeof name === "string" ? this.#tickets.get(name) : undefined;
    return ticket !== undefined && this.#clock.monotonic() < ticket.endsAt ? ticket.identity : undefined;
  }
}
