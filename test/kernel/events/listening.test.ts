import { setTimeout } from "node:timers/promises";
import { PorticoApp, topic } from "portico";
import { field, Graph, schema, subscription, t } from "portico/graphql";
import { testClient } from "portico/testing";
import { afterEach, expect, it, vi } from "vitest";

afterEach(() => void vi.unstubAllEnvs());

/** The events of a subscription that ends, for a client that asks when it is active. */
async function heard(): Promise<string> {
  const added = topic<string>("titles.added");
  const app = new PorticoApp({ logger: false });
  const built = schema({
    query: { hello: field(t.string)(() => "hello") },
    subscription: {
      added: subscription(t.string)(async function* ({ ctx }) {
        const events = ctx.pubsub.subscribe(added)[Symbol.asyncIterator]();
        await setTimeout(20);
        yield "one";
        await events.return?.();
      }),
    },
  });
  new Graph(built).mount(app);
  const headers = { accept: "text/event-stream", "x-portico-tell-listening": "1" };
  const response = await testClient(app).post("/graphql", { body: { query: "subscription { added }" }, headers });
  await app.close();
  return response.text();
}

it("a test hears when its subscription is active", async () => {
  expect(await heard()).toContain(": listening");
});

it("a client in production cannot ask for that", async () => {
  vi.stubEnv("NODE_ENV", "production");

  const events = await heard();

  expect(events).toContain('"added":"one"');
  expect(events).not.toContain("listening");
});
