import { PorticoApp as App, type PorticoApp } from "portico";
import { field, Graph, schema, subscription, t } from "portico/graphql";
import { liveClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";

/** What a request has of some headers: as `headers`, and as every value that was sent. */
function noting(app: PorticoApp): readonly unknown[] {
  const seen: unknown[] = [];
  app.use(async (ctx, next) => {
    const request = ctx.request as unknown as { everyValue(name: string): readonly string[] };
    const { "x-api-key": key, "x-trace": trace } = ctx.request.headers;
    seen.push({ key, keys: request.everyValue("x-api-key"), trace, traces: request.everyValue("x-trace") });
    await next();
  });
  return seen;
}

it("a credential in connection_init replaces the one of the upgrade, and the other headers stay", async () => {
  const app = new App({ logger: false });
  const seen = noting(app);
  const tick = subscription(t.int)(async function* () {
    yield 1;
  });
  new Graph(schema({ query: { ok: field(t.boolean)(() => true) }, subscription: { tick } })).mount(app);
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  const headers = { "X-API-Key": "old", "X-Trace": "7" };
  const socket = await client.socket("/graphql", { protocols: ["graphql-transport-ws"], headers });

  socket.send(JSON.stringify({ type: "connection_init", payload: { "X-Api-Key": "new" } }));

  expect(JSON.parse(await socket.next())).toMatchObject({ type: "connection_ack" });
  expect(seen).toEqual([
    { key: "old", keys: ["old"], trace: "7", traces: ["7"] },
    { key: "new", keys: ["new"], trace: "7", traces: ["7"] },
  ]);
});
