import { topic } from "portico";
import { field, mutation, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { openGraph, rawSocket } from "../subscriptions/open.ts";
import { until } from "../subscriptions/until.ts";

const tick = topic<number>("test.tick");
let executed = 0;
let running: string[] = [];
const Tick: ObjectType<{ readonly n: number }> = object("Tick", {
  n: field(t.int)(({ parent }) => {
    executed++;
    return parent.n;
  }),
  secret: field(t.string, { auth: true })(() => "secret"),
  classified: field(t.string, { permissionClasses: [{ hasPermission: () => true }] })(() => "secret"),
});
const built = schema({
  query: { a: field(t.int)(() => 1) },
  mutation: {
    tick: mutation(t.int, { params: { n: t.int } })(async ({ n, ctx }) => {
      await ctx.pubsub.publish(tick, n);
      return n;
    }),
  },
  subscription: {
    ticks: subscription(Tick, { shared: true, params: { times: t.int(1) } })(async function* ({ ctx, times }) {
      running.push("start");
      try {
        for await (const n of ctx.pubsub.subscribe(tick)) yield { n: n * times };
      } finally {
        running.push("end");
      }
    }),
    told: subscription(t.string, { shared: true, params: { what: t.nullable(t.json) } })(async function* ({
      ctx,
      what,
    }) {
      running.push("start");
      for await (const n of ctx.pubsub.subscribe(tick)) yield `${n} ${String(what)}`;
    }),
    who: subscription(t.string, { shared: true })(async function* ({ ctx }) {
      yield ctx.user.identity;
    }),
    from: subscription(t.string, { shared: true })(async function* ({ ctx }) {
      yield ctx.request.ip;
    }),
  },
});
const subscribe = (query: string, variables = {}) => ({ type: "subscribe", id: "1", payload: { query, variables } });

describe("a shared subscription", () => {
  it("[SUB-19] is executed once per document and variables, and sent to all", async () => {
    const { client } = await openGraph(built);
    executed = 0;
    running = [];
    const document = "subscription ($times: Int!) { ticks(times: $times) { n } }";
    const sockets = await Promise.all([1, 2, 3, 4].map(() => rawSocket(client, { init: true })));
    const [, , , other] = sockets;
    for (const socket of sockets.slice(0, 3)) socket.say(subscribe(document, { times: 2 }));
    other?.say(subscribe(document, { times: 10 }));
    await until(() => running.length === 2);
    // Later clients join the running stream. A pong shows that each client has joined.
    for (const socket of sockets) {
      socket.say({ type: "ping" });
      await socket.hear();
    }

    await client.post("/graphql", { body: { query: "mutation { tick(n: 4) }" } });

    const heard = await Promise.all(sockets.map((socket) => socket.hear()));
    expect(heard.map(({ payload }) => payload.data.ticks.n as number)).toEqual([8, 8, 8, 40]);
    expect(executed).toBe(2);
    expect(running).toEqual(["start", "start"]);
  });

  it.each([
    ["an inline fragment", "subscription { ... on Subscription { ticks { n } } }"],
    [
      "a fragment",
      "subscription { ...Outer } fragment Outer on Subscription { ...T ...T } fragment T on Subscription { ticks { n } }",
    ],
  ])("is shared where %s names it", async (_kind, document) => {
    const { client } = await openGraph(built);
    running = [];
    const sockets = [await rawSocket(client, { init: true }), await rawSocket(client, { init: true })];

    for (const socket of sockets) {
      socket.say(subscribe(document));
      socket.say({ type: "ping" });
      await socket.hear();
    }
    await until(() => running.length > 0);
    await client.post("/graphql", { body: { query: "mutation { tick(n: 4) }" } });

    for (const socket of sockets) expect((await socket.hear()).payload.data).toEqual({ ticks: { n: 4 } });
    expect(running).toEqual(["start"]);
  });

  it("is not shared between null and a number that JSON writes as null", async () => {
    const { client } = await openGraph(built);
    running = [];
    const sockets = [await rawSocket(client, { init: true }), await rawSocket(client, { init: true })];
    const document = "subscription ($what: JSON) { told(what: $what) }";
    const message = (what: string) =>
      `{"type":"subscribe","id":"1","payload":{"query":${JSON.stringify(document)},"variables":{"what":${what}}}}`;

    for (const [at, what] of ["1e400", "null"].entries()) {
      sockets[at]?.send(message(what));
      await until(() => running.length > at);
    }
    await client.post("/graphql", { body: { query: "mutation { tick(n: 4) }" } });

    const heard = await Promise.all(sockets.map((socket) => socket.hear()));
    expect(heard.map(({ payload }) => payload.data.told as string)).toEqual(["4 Infinity", "4 null"]);
  });

  it("runs from its first member to its last, and starts again after that", async () => {
    const { client } = await openGraph(built);
    running = [];
    const [one, two] = [await rawSocket(client, { init: true }), await rawSocket(client, { init: true })];
    one.say(subscribe("subscription { ticks { n } }"));
    two.say(subscribe("subscription { ticks { n } }"));
    await until(() => running.length === 1);

    one.terminate();
    await client.post("/graphql", { body: { query: "mutation { tick(n: 1) }" } });
    expect((await two.hear()).payload.data).toEqual({ ticks: { n: 1 } });
    two.say({ type: "complete", id: "1" });
    await until(() => running.length === 2);
    two.say(subscribe("subscription { ticks { n } }"));

    await until(() => running.length === 3);
    expect(running).toEqual(["start", "end", "start"]);
  });

  it("[SUB-20] [graphql:I22] rejects access to the user, the request and gated fields for every client, and the socket stays open", async () => {
    const { client } = await openGraph(built);
    const sockets = [await rawSocket(client, { init: true }), await rawSocket(client, { init: true })];

    for (const query of ["subscription { who }", "subscription { from }"]) {
      for (const socket of sockets) socket.say(subscribe(query));
      for (const socket of sockets) {
        const { type, payload } = await socket.hear();
        expect(type).toBe("error");
        expect(payload).toMatchObject([{ extensions: { code: "SHARED_SUBSCRIPTION" } }]);
        expect(payload[0].message).toContain("{ shared: true }");
      }
    }
    for (const [at, name] of ["secret", "classified"].entries()) {
      const id = `gated ${at}`;
      running = [];
      for (const socket of sockets) socket.say({ ...subscribe(`subscription { ticks { n ${name} } }`), id });
      await until(() => running.length === 1);
      for (const socket of sockets) {
        socket.say({ type: "ping" });
        await socket.hear();
      }
      await client.post("/graphql", { body: { query: "mutation { tick(n: 1) }" } });
      for (const socket of sockets) {
        const { type, payload } = await socket.hear();
        expect(type).toBe("next");
        expect(payload.errors).toMatchObject([{ path: ["ticks", name], extensions: { code: "SHARED_SUBSCRIPTION" } }]);
        socket.say({ type: "complete", id });
      }
      await until(() => running.length === 2);
    }
  });
});

describe("objects whose type has a gate", () => {
  const Owner: ObjectType<{ readonly name: string }> = object("Owner", { name: t.string }, { auth: true });
  const Shelf: ObjectType<{ readonly n: number }> = object("Shelf", {
    n: t.int,
    owner: field(Owner)(() => ({ name: "ada" })),
  });
  const shelves = schema({
    query: { a: field(t.int)(() => 1) },
    subscription: {
      shelf: subscription(Shelf, { shared: true })(async function* () {
        yield { n: 1 };
      }),
    },
  });

  it.each([
    "subscription { shelf { n owner { name } } }",
    "subscription { shelf { n ...Rest } } fragment Rest on Shelf { owner { name } }",
    "subscription { shelf { n ... { mine: owner { name } } } }",
  ])("cannot be selected below a shared subscription: %s", async (document) => {
    const { client } = await openGraph(shelves);
    const socket = await rawSocket(client, { init: true });
    socket.say(subscribe(document));

    expect(await socket.hear()).toMatchObject({
      type: "error",
      payload: [{ message: "A shared subscription cannot select Owner, whose access depends on the caller" }],
    });
    socket.say({ ...subscribe("subscription { shelf { n } }"), id: "2" });
    expect(await socket.hear()).toMatchObject({ type: "next", payload: { data: { shelf: { n: 1 } } } });
  });
});
