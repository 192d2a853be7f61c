import { setTimeout as sleep } from "node:timers/promises";
import { PorticoApp, topic } from "portico";
import { SimpleUser } from "portico/auth";
import { field, Graph, mutation, schema, subscription, t } from "portico/graphql";
import { expect } from "vitest";
import { overBoth } from "../matrix.ts";

const added = topic<string>("titles.added");
const ended: string[] = [];

function build(): PorticoApp {
  const app = new PorticoApp({ logger: false });
  const built = schema({
    query: {
      hello: field(t.string, { params: { name: t.string("world") } })(({ name }) => `hello ${name}`),
      me: field(t.string, { auth: true })(({ ctx }) => ctx.user.identity),
    },
    mutation: {
      add: mutation(t.string, { params: { title: t.string } })(async ({ title, ctx }) => {
        await ctx.pubsub.publish(added, title);
        return title;
      }),
    },
    subscription: {
      added: subscription(t.string)(async function* ({ ctx }) {
        try {
          yield "listening";
          yield* ctx.pubsub.subscribe(added);
        } finally {
          ended.push("added");
        }
      }),
      two: subscription(t.int, { params: { from: t.int } })(async function* ({ from }) {
        yield from;
        yield from + 1;
      }),
      mine: subscription(t.string)(async function* ({ ctx }) {
        yield ctx.user.identity;
      }),
    },
  });
  new Graph(built).mount(app);
  return app;
}

overBoth("runs operations, and says what is wrong with them", build, async ({ graphql, as }) => {
  expect((await graphql("query ($name: String!) { hello(name: $name) }", { name: "you" })).data).toEqual({
    hello: "hello you",
  });
  expect((await graphql("{ nothing }")).errors?.[0]?.extensions["code"]).toBe("GRAPHQL_VALIDATION_FAILED");
  expect((await as(new SimpleUser("ann")).graphql("{ me }")).data).toEqual({ me: "ann" });
  await expect(graphql("{ hello }", {}, { path: "/elsewhere" })).rejects.toThrow("404");
});

overBoth("listens to subscriptions, as anybody, until they end or the loop is left", build, async (client) => {
  const all = async (document: string, variables = {}) =>
    (await Array.fromAsync(client.subscribe(document, variables))).map(({ data, errors }) => data ?? errors);
  ended.length = 0;

  expect(await all("subscription ($n: Int!) { two(from: $n) }", { n: 4 })).toEqual([{ two: 4 }, { two: 5 }]);
  expect(await all("subscription { nothing }")).toMatchObject([
    [{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }],
  ]);
  const [mine] = await Array.fromAsync(client.as(new SimpleUser("ann")).subscribe("subscription { mine }"));
  expect(mine?.data).toEqual({ mine: "ann" });

  const titles: unknown[] = [];
  for await (const { data } of client.subscribe("subscription { added }")) {
    titles.push(data?.["added"]);
    if (titles.length === 1) await client.graphql('mutation { add(title: "Emma") }');
    if (titles.length === 2) break;
  }
  expect(titles).toEqual(["listening", "Emma"]);
  await expect.poll(() => ended).toEqual(["added"]);
});

overBoth("a subscription is ready when its generator has subscribed, and hears what follows", late, async (client) => {
  for (const name of ["late", "all"]) {
    const events = client.subscribe(`subscription { ${name} }`);
    await events.ready();

    await client.graphql('mutation { add(title: "Emma") }');

    expect((await events.next()).value?.data).toEqual({ [name]: "Emma" });
    await events.return();
    expect(await events.next()).toEqual({ done: true, value: undefined });
  }
});

overBoth(
  "it is also ready while it is being read, and for the second reader of a shared subscription",
  late,
  async (client) => {
    const [one, two] = [client.subscribe("subscription { all }"), client.subscribe("subscription { all }")];
    const reading = one.next();
    await one.ready();
    await two.ready();

    await client.graphql('mutation { add(title: "Emma") }');

    expect((await reading).value?.data).toEqual({ all: "Emma" });
    expect((await two.next()).value?.data).toEqual({ all: "Emma" });
    await one.return();
    await two.return();
  },
);

overBoth("it is ready when there is something to read: an event, an error, the end", late, async (client) => {
  const read = async (document: string): Promise<unknown> => {
    const events = client.subscribe(document);
    await events.ready();
    return (await Array.fromAsync(events)).map(({ data, errors }) => data ?? errors?.[0]?.extensions["code"]);
  };

  expect(await read("subscription { none }")).toEqual([]);
  expect(await read("subscription { once }")).toEqual([{ once: 1 }]);
  expect(await read("subscription { nothing }")).toEqual(["GRAPHQL_VALIDATION_FAILED"]);
  await expect(client.subscribe("subscription { once }", {}, { path: "/elsewhere" }).ready()).rejects.toThrow("404");
});

overBoth("it can be left while an event is waited for", late, async (client) => {
  const events = client.subscribe("subscription { late }");
  const waiting = events.next();
  await events.ready();

  await events.return();

  expect(await waiting).toEqual({ done: true, value: undefined });
});

/** Generators that take their time before they listen. */
function late(): PorticoApp {
  const app = new PorticoApp({ logger: false });
  const built = schema({
    query: { hello: field(t.string)(() => "hello") },
    mutation: {
      add: mutation(t.string, { params: { title: t.string } })(async ({ title, ctx }) => {
        await ctx.pubsub.publish(added, title);
        return title;
      }),
    },
    subscription: {
      late: subscription(t.string)(async function* ({ ctx }) {
        await sleep(50);
        yield* ctx.pubsub.subscribe(added);
      }),
      all: subscription(t.string, { shared: true })(async function* ({ ctx }) {
        await sleep(50);
        yield* ctx.pubsub.subscribe(added);
      }),
      once: subscription(t.int)(async function* () {
        yield 1;
      }),
      none: subscription(t.int)(async function* () {}),
    },
  });
  new Graph(built).mount(app);
  return app;
}
