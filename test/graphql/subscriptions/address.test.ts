import { rateLimit } from "portico";
import { field, schema, subscription, t } from "portico/graphql";
import { expect, it } from "vitest";
import { collect, openGraph, wsClient } from "./open.ts";

it("a socket knows the address of its client after the upgrade, also when connection_init brings a credential", async () => {
  const built = schema({
    query: { ping: field(t.string)(() => "pong") },
    subscription: {
      address: subscription(t.string)(async function* ({ ctx }) {
        yield ctx.request.ip;
      }),
    },
  });
  const { url } = await openGraph(built, { middleware: [rateLimit({ perMinute: 600, name: "graph" })] });

  const heard = await collect(
    wsClient(url, { connectionParams: { authorization: "Bearer x" } }),
    "subscription { address }",
  );

  expect(heard).toEqual([{ address: "127.0.0.1" }]);
});
