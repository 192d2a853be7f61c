import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import type { PorticoApp } from "../../portico-app.ts";
import { askedBy } from "../stand-ins/access-of.ts";
import { surfaceOf } from "../surface/surface-of.ts";
import type { Target } from "../targets/target.ts";
import { objectTargetsOf, targetsOf } from "../targets/targets-of.ts";
import { ANONYMOUS, type AttackIdentity } from "./attack-identity.ts";
import type { AttackOptions } from "./attack-options.ts";
import type { AttackReport } from "./attack-report.ts";
import { Credentials } from "./credentials.ts";
import { expectedOf, expectedOfObject, FOREIGN_OBJECT } from "./expected.ts";
import { Findings } from "./findings.ts";
import { Identities } from "./identities.ts";
import { inParallel } from "./in-parallel.ts";
import { objectOutcome } from "./outcome.ts";
import { Sender } from "./sender.ts";
import { type SignIn, signInOf, signInsOf } from "./sign-in.ts";
import { StandInUsers } from "./stand-in-users.ts";
import { Wire } from "./wire.ts";

/** The number of requests in flight. */
const MAX_REQUESTS = 8;

/**
 * Attacks an application over real connections: asks for every place that has a gate, by every transport, as callers with and
 * without what the gate asks for, and reports each result that differs from the declaration. Nothing is executed if the
 * application is right: what changes something is only asked for as callers who must be refused.
 *
 * The callers sign in with real credentials, issued with the keys and stores of the application and removed at the end. Their
 * users are stand-ins, which only this process knows. The application listens afterwards, without logging: close it with `app.close()`.
 *
 * Throws `ConfigurationError` in production.
 */
export async function attack(app: PorticoApp, options: AttackOptions = {}): Promise<AttackReport> {
  if (isProduction())
    throw new ConfigurationError("portico audit", "must not attack in production: NODE_ENV must not be production");
  // An application logs every refusal.
  (app.log as { level: string }).level = "silent";
  const { port } = await app.listen({ port: 0 });
  const wire = new Wire(port, options.timeoutMs ?? 10_000);
  await wire.begin();
  const campaign = new Campaign(app, wire, options);
  try {
    return await campaign.run();
  } finally {
    await campaign.end();
    wire.close();
  }
}

/** One attack, from its first credential to its report. */
class Campaign {
  readonly #app: PorticoApp;
  readonly #options: AttackOptions;
  readonly #sender: Sender;
  readonly #users: StandInUsers;
  readonly #signIns: readonly SignIn[];
  readonly #crews = new Map<SignIn["authentication"] | null, Identities>();
  readonly #undo: (() => unknown)[] = [];
  readonly #findings = new Findings();
  #permissions: readonly string[] = [];

  constructor(app: PorticoApp, wire: Wire, options: AttackOptions) {
    this.#app = app;
    this.#options = options;
    this.#sender = new Sender(app, wire);
    this.#signIns = signInsOf(app);
    this.#users = new StandInUsers(this.#model);
  }

  async run(): Promise<AttackReport> {
    const surface = await surfaceOf(this.#app);
    const gates = surface.flatMap(({ gate, objects = null }) => [gate, objects]);
    const asked = await Promise.all(gates.map((gate) => askedBy(gate, this.#model)));
    this.#permissions = [...new Set(asked.flat())].toSorted();
    const everything = await this.#crew(null).control();
    const open = new Map(
      await Promise.all(gates.map(async (gate) => [gate, (await expectedOf(gate, everything)).answer] as const)),
    );
    const skipped = new Set(this.#options.skip);
    const all = await targetsOf(this.#app, surface, (gate) => gate === null || open.get(gate) !== "refused");
    const targets = all.filter(({ place }) => !skipped.has(place));
    const attempts: (() => Promise<void>)[] = [];
    await inParallel(
      MAX_REQUESTS,
      targets.map((target) => async () => {
        attempts.push(...(await this.#attempts(target)));
      }),
    );
    await inParallel(MAX_REQUESTS, attempts);
    const objects = await objectTargetsOf(this.#app, surface, (gate) => gate === null || open.get(gate) !== "refused");
    const declared = objects.filter(({ place }) => !skipped.has(place));
    await this.#attackObjects(declared);
    return this.#findings.report(
      [...targets, ...declared],
      [...this.#users.notes, ...this.#notes()],
      await this.#gaps(),
    );
  }

  /** Asks handlers for an object without an owner, as callers whom its rule must refuse. */
  async #attackObjects(targets: readonly Target[]): Promise<void> {
    const loads = targets.flatMap(({ object }) => (object === undefined ? [] : [object.load]));
    const undo = this.#app.standInFor(loads, FOREIGN_OBJECT);
    try {
      const attempts = await Promise.all(targets.map((target) => this.#attempts(target)));
      await inParallel(MAX_REQUESTS, attempts.flat());
    } finally {
      undo();
    }
  }

  /** Removes the credentials and the users. */
  async end(): Promise<void> {
    await this.#sender.close();
    for (const undo of this.#undo.toReversed()) await undo();
  }

  get #model(): object | null {
    return this.#signIns[0]?.authentication.userModel ?? null;
  }

  /** The requests to one place, as functions that send them. */
  async #attempts(planned: Target): Promise<readonly (() => Promise<void>)[]> {
    const crew = this.#crew(signInOf(planned.middleware));
    const gates = [planned.gate, planned.object?.gate ?? null];
    const asked = await Promise.all(gates.map((gate) => askedBy(gate, this.#model)));
    const identities = await crew.for([...new Set(asked.flat())]);
    const transports = this.#sender.transports(planned);
    if (transports.length === 0) {
      this.#findings.unreached(planned, "no query leads there", identities.length);
      return [];
    }
    const target = planned.needsData ? await this.#withData(planned, await crew.control()) : planned;
    if (target === null) {
      this.#findings.unreached(planned, "there is no data on the way", identities.length * transports.length);
      return [];
    }
    return identities.flatMap((identity) =>
      transports.map((transport) => async () => {
        const { gate, object } = target;
        const expected = await (object === undefined
          ? expectedOf(gate, identity)
          : expectedOfObject(gate, object.gate, identity));
        // Where anonymous callers are let in, an invalid credential proves nothing.
        const isProof = target.isSafe && (identity.user !== null || identity === ANONYMOUS);
        if (expected.answer !== "refused" && !isProof) return;
        const sent = await this.#sender.send(target, transport, identity, expected);
        const outcome = object === undefined ? sent : objectOutcome(sent);
        this.#findings.add({ target, transport, identity: identity.name, expected, outcome });
      }),
    );
  }

  /** The target with the first of its operations that finds data; `null` if none does. */
  async #withData(target: Target, control: AttackIdentity): Promise<Target | null> {
    const { request } = target;
    const [transport] = this.#sender.transports(target);
    if (request.kind !== "graph" || transport === undefined) return target;
    const expected = await expectedOf(target.gate, control);
    for (const operation of request.operations) {
      const only: Target = { ...target, request: { ...request, operations: [operation] } };
      const { verdict } = await this.#sender.send(only, transport, control, expected);
      if (verdict === "let in" || verdict === "refused") return only;
    }
    return null;
  }

  /** The callers for places behind this sign-in. A place without one is attacked with the first of the application. */
  #crew(signIn: SignIn | null): Identities {
    const chosen = signIn ?? this.#signIns[0] ?? null;
    const key = chosen?.authentication ?? null;
    const known = this.#crews.get(key);
    if (known !== undefined) return known;
    const { stores, settings, actors } = this.#app;
    const credentials =
      chosen === null
        ? null
        : new Credentials(chosen.authentication, chosen.sessions, {
            services: { stores, clock: settings.clock },
            use: (headers) => this.#sender.use(chosen, headers),
            signIn: this.#options.signIn,
          });
    if (credentials !== null) this.#undo.push(() => credentials.takeBack());
    const crew = new Identities({
      users: this.#users,
      credentials,
      scopes: chosen?.authentication.scopes ?? [],
      permissions: this.#permissions,
      given: this.#options.identities ?? {},
      enlist: (user) => {
        let isKnown = false;
        const undo = actors.standIn(user, () => {
          isKnown = true;
        });
        this.#undo.push(undo);
        return () => isKnown;
      },
    });
    this.#crews.set(key, crew);
    return crew;
  }

  #notes(): readonly string[] {
    if (this.#signIns.length > 0) return [];
    return ["the application has no AuthenticationMiddleware, so only anonymous and given callers were tried"];
  }

  /** The sign-in methods that were not attacked. */
  async #gaps(): Promise<readonly string[]> {
    const missing = await Promise.all([...this.#crews.values()].map((crew) => crew.missing()));
    return [...new Set(missing.flat().map(gapOf))];
  }
}

function gapOf({ scope, isRejected }: { readonly scope: string; readonly isRejected: boolean }): string {
  return isRejected
    ? `the application rejects the credentials that were issued for the scope ${scope}, such as tokens without a claim that it requires: issue them in attack.signIn`
    : `no credential could be issued for the scope ${scope}: pass headers for it in attack.identities`;
}
