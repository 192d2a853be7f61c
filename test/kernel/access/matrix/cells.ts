import { isDeepStrictEqual } from "node:util";
import { type LiveClient, liveClient, testClient } from "portico/testing";
import { FAULT } from "./auth-of.ts";
import { type Form, hasRule, isAboutOwner } from "./forms.ts";
import { type GateApp, gateApp } from "./gate-app.ts";
import { GraphSockets } from "./graph-sockets.ts";
import { type Identity, identities } from "./identities.ts";
import { type Owner, verdictOf } from "./model.ts";
import type { Place, Transport } from "./place.ts";
import { canaryOf, OWNERS, type Probe } from "./probe.ts";

/** One cell of the matrix, for one form in one place. */
export interface Cell {
  readonly transport: Transport;
  readonly identity: Identity;
  readonly owner: Owner;
}

/** The cells of a form in a place. The second owner is added once, if the gate depends on the owner. */
export function cellsOf(form: Form, { transports, isList }: Place): readonly Cell[] {
  const [first] = transports as readonly [Transport];
  const ways = transports.map((transport) => ({ transport, owner: "mine" as Owner }));
  if (isAboutOwner(form) && isList !== true) ways.push({ transport: first, owner: "theirs" });
  return ways.flatMap((way) => identities.map((identity) => ({ ...way, identity })));
}

/**
 * Of the cells of a form in a place, one for each caller. The transports take turns, and begin with another one in each place, so that
 * every transport meets every caller and every form.
 */
export function cellsInTurn(form: Form, place: Place, offset: number): readonly Cell[] {
  const cells = cellsOf(form, place);
  const ways = cells.length / identities.length;
  return identities.map((_, index) => cells[((index + offset) % ways) * identities.length + index] as Cell);
}

/** Whether a place can have a gate of this form. */
export function fits(form: Form, place: Place): boolean {
  return (place.hasObject || !hasRule(form)) && (place.takes?.(form) ?? true);
}

/** A running application whose places have one form of gate. */
export class Bench {
  readonly #form: Form;
  readonly #client: LiveClient;
  readonly #sockets: GraphSockets;
  readonly #probe: Probe;
  readonly #inject: ReturnType<typeof testClient>;

  constructor(form: Form, { app, probe }: GateApp, client: LiveClient) {
    this.#form = form;
    this.#client = client;
    this.#sockets = new GraphSockets(client);
    this.#probe = probe;
    this.#inject = testClient(app);
  }

  static async open(form: Form, places: readonly Place[], isUnguarded = false): Promise<Bench> {
    const built = gateApp(form, places, isUnguarded);
    return new Bench(form, built, await liveClient(built.app));
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Runs one cell. Returns a description of the difference from the model, or `null` if there is none. */
  async difference(place: Place, cell: Cell): Promise<string | null> {
    const probe = this.#probe;
    const form = place.inEffect?.(this.#form) ?? this.#form;
    const expected = place.expected({ ...cell, verdict: (owner) => verdictOf(form, cell.identity, owner) });
    probe.reset();
    const { shown, text } = await place.visit({
      client: this.#client,
      inject: this.#inject,
      sockets: this.#sockets,
      ...cell,
    });
    const found = {
      shown,
      ran: OWNERS.filter((owner) => probe.ran.has(owner)),
      sent: OWNERS.filter((owner) => text.includes(canaryOf(owner))),
      outcomes: [...probe.outcomes],
      isFaultSent: text.includes(FAULT),
    };
    const { revealed, outcome } = expected;
    const wanted = {
      shown: expected.shown,
      ran: revealed,
      sent: revealed,
      outcomes: outcome === undefined ? [] : [outcome],
      isFaultSent: false,
    };
    if (isDeepStrictEqual(found, wanted)) return null;
    const { transport, identity, owner } = cell;
    return `${identity.name}, ${transport}, ${owner}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`;
  }
}
