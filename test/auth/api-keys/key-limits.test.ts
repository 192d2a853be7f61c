import { field, Graph, schema, subscription, t } from "portico/graphql";
import { liveClient, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { rawSocket } from "../../graphql/subscriptions/open.ts";
import { by, keyApp, make } from "./key-app.ts";

/** An application with keys and a graph, and how often its field was resolved. */
function graphApp() {
  const app = keyApp();
  const calls = { count: 0 };
  const hello = field(t.string)(() => {
    calls.count++;
    return "hello";
  });
  const ticks = subscription(t.int)(async function* () {
    calls.count++;
    yield 1;
  });
  new Graph(schema({ query: { hello }, subscription: { ticks } }), { subscriptions: { operations: true } }).mount(app);
  return { app, calls };
}

interface Entry {
  readonly data?: unknown;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}
const wordOf = ({ data, errors }: Entry): unknown => errors?.[0]?.extensions.code ?? data;

const times = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);

describe("[auth:AU-160] the limit of an API key", () => {
  it("counts each operation of a batch, and rejects those beyond the limit", async () => {
    const { app, calls } = graphApp();
    const client = testClient(app);
    const { key } = await make(client, { perMinute: 5 });
    const batch = (size: number) => client.post("/graphql", { ...by(key), body: times(size, { query: "{ hello }" }) });

    const [first, second] = [await batch(3), await batch(4)];

    expect((first.json() as Entry[]).map(wordOf)).toEqual(times(3, { hello: "hello" }));
    expect((second.json() as Entry[]).map(wordOf)).toEqual([
      ...times(2, { hello: "hello" }),
      ...times(2, "RATE_LIMITED"),
    ]);
    expect(calls.count).toBe(5);
    expect((await client.get("/me", by(key))).status).toBe(429);
  });

  it("counts each operation on a socket, queries and subscriptions, and shares the count with requests", async () => {
    const { app, calls } = graphApp();
    const client = await liveClient(app);
    onTestFinished(() => client.close());
    const { key } = await make(client, { perMinute: 4 });
    const socket = await rawSocket(client, { ...by(key), init: true });
    const ask = async (id: string, query: string): Promise<readonly string[]> => {
      socket.say({ id, type: "subscribe", payload: { query } });
      const types: string[] = [];
      while (types.at(-1) !== "complete" && types.at(-1) !== "error") types.push((await socket.hear()).type);
      return types;
    };

    expect(await ask("1", "{ hello }")).toEqual(["next", "complete"]);
    expect(await ask("2", "subscription { ticks }")).toEqual(["next", "complete"]);
    expect((await client.get("/me", by(key))).status).toBe(200);
    expect(await ask("3", "{ hello }")).toEqual(["error"]);
    expect(await ask("4", "subscription { ticks }")).toEqual(["error"]);
    expect(calls.count).toBe(2);
    expect((await client.get("/me", by(key))).status).toBe(429);
  });

  it("does not affect batches and sockets of other callers", async () => {
    const { app } = graphApp();
    const client = testClient(app);
    const { key } = await make(client);

    for (const headers of [{ "x-session": "ann" }, by(key).headers]) {
      const answer = await client.post("/graphql", { headers, body: times(10, { query: "{ hello }" }) });
      expect((answer.json() as Entry[]).map(wordOf)).toEqual(times(10, { hello: "hello" }));
    }
  });
});
