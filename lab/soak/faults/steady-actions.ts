import { hasOutage } from "./documented-outcomes.ts";
import type { SteadyClient } from "./steady-client.ts";
import { subscribe } from "./steady-subscription.ts";

export interface SteadyAction {
  readonly name: string;
  readonly weight: number;
  run(client: SteadyClient): Promise<void>;
}

/** Requests of clients that behave, while servers fail. */
export const steadyActions: readonly SteadyAction[] = [
  {
    name: "write by a route",
    weight: 12,
    run: (client) =>
      client.writes.write(async (body) => {
        const session = client.session();
        const { text } = await client.askAs(session, { method: "POST", path: "/entries", body });
        const { by, ...entry } = JSON.parse(text) as Readonly<Record<string, unknown>>;
        client.identities.compare(session, "/entries", by);
        expectEqual(entry, body);
      }),
  },
  {
    name: "write by a mutation",
    weight: 8,
    run: (client) =>
      client.writes.write(async (entry) => {
        const mutation = "mutation ($number: Int!, $text: String!) { enter(number: $number, text: $text) }";
        expectEqual(await client.graph(mutation, entry), { enter: entry.number });
      }),
  },
  {
    name: "list",
    weight: 6,
    async run(client) {
      const { text } = await client.ask({ path: "/notes?page_size=20" }, 200);
      if (text.split("The note of number").length !== 21) throw new Error(`not 20 notes: ${text.slice(0, 200)}`);
    },
  },
  {
    name: "query",
    weight: 8,
    async run(client) {
      const { notes } = (await client.graph("{ notes(limit: 5) { author { name } } }")) as { notes: unknown[] };
      if (notes.length !== 5) throw new Error(`${notes.length} notes, not 5`);
    },
  },
  { name: "session", weight: 8, run: (client) => client.checkSession() },
  { name: "access token", weight: 4, run: (client) => client.checkToken() },
  { name: "visit", weight: 1, run: (client) => client.world.visit((visitor) => client.visit(visitor)) },
  { name: "liveness", weight: 2, run: async (client) => void (await client.ask({ path: "/livez" }, 200)) },
  {
    name: "readiness",
    weight: 2,
    async run(client) {
      await client.ask(
        { path: "/readyz" },
        200,
        (status, faults) => status === 503 && (hasOutage(faults) || faults.has("clock")) && "not ready",
      );
    },
  },
  { name: "subscription", weight: 5, run: subscribe },
];

function expectEqual(actual: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${a} was returned, not ${b}`);
}
