import type { PorticoAppOptions } from "portico";
import { field, type Graph, type GraphOptions, mutation, type OperationHook, schema, t } from "portico/graphql";
import { type LiveClient, type LogCatcher, type ManualClock, manualClock, type TestResponse } from "portico/testing";
import { openSchema } from "../endpoint/open.ts";

const fails = field(t.nullable(t.string))(() => {
  throw new Error("no");
});

/** For tests that keep the event loop busy: no request is turned away for it. */
export const UNSHED: PorticoAppOptions = { load: { report: true } };

interface Timed {
  readonly ask: (body: string | object) => Promise<TestResponse>;
  readonly client: LiveClient;
  readonly graph: Graph;
  readonly log: LogCatcher;
  readonly clock: ManualClock;
}

/** An endpoint over a socket, with hooks, on a clock that its field `wait` moves. */
export async function timed(
  hooks: readonly OperationHook[],
  options: GraphOptions = {},
  appOptions: PorticoAppOptions = {},
): Promise<Timed> {
  const clock = manualClock();
  const wait = (ms: number): string => {
    clock.advance(ms);
    return "waited";
  };
  const query = {
    wait: field(t.string, { params: { ms: t.int } })(({ ms }) => wait(ms)),
    dear: field(t.string, { cost: 6 })(() => "dear"),
    hello: field(t.string)(() => "world"),
    fails,
  };
  const mutations = { write: mutation(t.string, { params: { ms: t.int } })(({ ms }) => wait(ms)) };
  const { client, graph, log } = await openSchema(schema({ query, mutation: mutations }), options, {
    clock,
    ...UNSHED,
    ...appOptions,
  });
  for (const hook of hooks) graph.onOperation(hook);
  const ask: Timed["ask"] = (body) =>
    client.post("/graphql", { body: typeof body === "string" ? { query: body } : body });
  return { ask, client, graph, log, clock };
}
