import { setTimeout as sleep } from "node:timers/promises";
import { describeError } from "../../core/describe-error.ts";
import type { Graph } from "../../graphql/graph/graph.ts";
import type { Route } from "../../http/routing/route.ts";
import type { PorticoApp } from "../../portico-app.ts";
import type { Target } from "../targets/target.ts";
import type { AttackIdentity } from "./attack-identity.ts";
import type { Transport } from "./attack-report.ts";
import type { Expected } from "./expected.ts";
import { GraphCaller, type GraphTransport } from "./graph-caller.ts";
import { isBusy, type Outcome, routeOutcome } from "./outcome.ts";
import { type SignIn, signInOf } from "./sign-in.ts";
import type { Headers, Wire } from "./wire.ts";

const MAX_ATTEMPTS = 5;

/** Sends the requests of the attack. */
export class Sender {
  readonly #app: PorticoApp;
  readonly #wire: Wire;
  readonly #callers = new Map<Route, GraphCaller>();

  constructor(app: PorticoApp, wire: Wire) {
    this.#app = app;
    this.#wire = wire;
  }

  /** The transports that reach a place; none if no request leads there. */
  transports({ request }: Target): readonly Transport[] {
    switch (request.kind) {
      case "route":
        return ["HTTP"];
      case "socket":
        return ["WebSocket"];
      case "graph": {
        const [operation] = request.operations;
        return operation === undefined ? [] : this.#caller(request.endpoint).transports(operation);
      }
    }
  }

  /** Sends one request, again while the server is too busy. Never rejects: without a response nothing is decided. */
  async send(target: Target, transport: Transport, identity: AttackIdentity, expected: Expected): Promise<Outcome> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#try(target, transport, identity, expected);
      if (!isBusy(outcome) || attempt === MAX_ATTEMPTS) return outcome;
      await sleep(attempt * 100);
    }
  }

  async #try(
    { request }: Target,
    transport: Transport,
    identity: AttackIdentity,
    expected: Expected,
  ): Promise<Outcome> {
    const { headers } = identity;
    try {
      switch (request.kind) {
        case "route":
          return routeOutcome(
            await this.#wire.request({ method: request.method, path: request.path, headers }),
            expected,
          );
        case "socket": {
          const upgrade = await this.#wire.upgrade(request.path, headers);
          if ("response" in upgrade) return routeOutcome(upgrade.response, expected);
          upgrade.socket.terminate();
          return { verdict: "let in", found: "101" };
        }
        case "graph": {
          const [operation] = request.operations;
          if (operation === undefined) return { verdict: "undecided", found: "no query leads there" };
          const caller = this.#caller(request.endpoint);
          return await caller.send(operation, transport as GraphTransport, identity, expected);
        }
      }
    } catch (error) {
      return { verdict: "undecided", found: describeError(error) };
    }
  }

  /**
   * Uses a credential once at a harmless place behind this sign-in, so that caches of the application know it. Returns whether there is
   * such a place that has responded.
   */
  async use({ authentication }: SignIn, headers: Headers): Promise<boolean> {
    const routes = this.#app.table.routes.filter(
      ({ method, middleware }) => method === "GET" && signInOf(middleware)?.authentication === authentication,
    );
    const route = routes.find(({ graph }) => graph !== undefined) ?? routes.find(({ path }) => !/[:*]/.test(path));
    if (route === undefined) return false;
    const path = route.graph === undefined ? route.path : `${route.path}?query=%7B__typename%7D`;
    return this.#wire.request({ method: "GET", path, headers }).then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    for (const caller of this.#callers.values()) await caller.close();
  }

  #caller(endpoint: Route): GraphCaller {
    const known = this.#callers.get(endpoint);
    if (known !== undefined) return known;
    const { path, graph } = endpoint;
    const hasSocket = this.#app.table.sockets.some((socket) => socket.path === path && socket.graph === graph);
    const [type = "text/plain"] = (graph as Graph).uploads.contentTypes;
    const caller = new GraphCaller(this.#wire, { path, hasSocket, fileType: type.replace("/*", "/x-audit") });
    this.#callers.set(endpoint, caller);
    return caller;
  }
}
