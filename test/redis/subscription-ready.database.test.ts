import { PorticoApp, topic } from "portico";
import { field, Graph, schema, subscription, t } from "portico/graphql";
import { redisStores } from "portico/redis";
import { testClient } from "portico/testing";
import { afterAll, expect, it } from "vitest";
import { newPrefix, SHARED_URL } from "../../lab/servers/redis-server.ts";
import { removeKeys } from "./remove-keys.ts";

const added = topic<string>("titles.added");
const prefix = newPrefix();
afterAll(() => removeKeys(prefix));

const open = (): PorticoApp => new PorticoApp({ stores: redisStores(SHARED_URL, { prefix }), logger: false });

it("a subscription that is ready receives everything that another process publishes afterwards", async () => {
  const [one, other] = [open(), open()];
  const live = {
    added: subscription(t.string)(async function* ({ ctx }) {
      yield* ctx.pubsub.subscribe(added);
    }),
  };
  new Graph(schema({ query: { hello: field(t.string)(() => "hello") }, subscription: live })).mount(one);
  await other.inject("/livez");

  for (let n = 0; n < 20; n++) {
    const events = testClient(one).subscribe("subscription { added }");
    await events.ready();
    await other.pubsub.publish(added, `title ${n}`);

    expect((await events.next()).value?.data).toEqual({ added: `title ${n}` });
    await events.return();
  }
  await Promise.all([one.close(), other.close()]);
});
