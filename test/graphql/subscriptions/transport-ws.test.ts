import { Depend, type Gate, topic } from "portico";
import { field, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { openGraph, rawSocket } from "./open.ts";
import { until } from "./until.ts";

/** Queries and subscriptions for the messages of the protocol, with `held` on the way until it is released. */
function fixture() {
  const tick = topic<number>("test.tick");
  const held = Promise.withResolvers<void>();
  const seen = { isOpening: false, live: 0 };
  const slowly = async (): Promise<number> => {
    seen.isOpening = true;
    await held.promise;
    return 1;
  };
  const built = schema({
    query: { hello: field(t.string)(() => "world") },
    subscription: {
      live: subscription(t.int)(async function* ({ ctx }) {
        const events = ctx.pubsub.subscribe(tick);
        seen.live++;
        try {
          yield* events;
        } finally {
          seen.live--;
        }
      }),
      breaks: subscription(t.int)(async function* () {
        yield 1;
        throw new Error("no");
      }),
      slow: subscription(t.int, { params: { one: Depend(slowly) } })(async function* ({ one }) {
        yield one;
      }),
    },
  });
  return { built, tick, held, seen };
}
const init = { type: "connection_init" };
const live = (id: string) => ({ type: "subscribe", id, payload: { query: "subscription { live }" } });
const ask = (id: string, query: string) => ({ type: "subscribe", id, payload: { query } });
/** A gate that opens with `held`. */
const after = ({ promise }: PromiseWithResolvers<void>): Gate<false> => ({
  required: false,
  scopes: [],
  check: () => promise,
});

describe("the reasons in graphql-transport-ws", () => {
  it("are 4408: Connection initialisation timeout", async () => {
    const { client } = await openGraph(fixture().built, { subscriptions: { initSeconds: 1 } });

    const socket = await rawSocket(client);

    expect(await socket.closed).toEqual({ code: 4408, reason: "Connection initialisation timeout" });
  });

  it("are 4401: Unauthorized for an operation without connection_init, and while it is pending", async () => {
    const { built, held, seen } = fixture();
    const { client } = await openGraph(built, { auth: after(held) });
    const [silent, pending] = [await rawSocket(client), await rawSocket(client)];

    silent.say(live("1"));
    pending.say(init);
    pending.say(live("1"));

    expect(await silent.closed).toEqual({ code: 4401, reason: "Unauthorized" });
    expect(await pending.closed).toEqual({ code: 4401, reason: "Unauthorized" });
    held.resolve();
    expect(seen.live).toBe(0);
  });

  it("are 4429: Too many initialisation requests, while one is pending and after it", async () => {
    const { built, held } = fixture();
    const { client } = await openGraph(built, { auth: after(held) });
    const [pending, acknowledged] = [await rawSocket(client), await rawSocket(client)];

    pending.say(init);
    pending.say(init);
    expect(await pending.closed).toEqual({ code: 4429, reason: "Too many initialisation requests" });
    held.resolve();
    acknowledged.say(init);
    expect(await acknowledged.hear()).toEqual({ type: "connection_ack" });
    acknowledged.say(init);

    expect(await acknowledged.closed).toEqual({ code: 4429, reason: "Too many initialisation requests" });
  });

  it("are 4409: Subscriber for its id already exists, also while the first one is being prepared", async () => {
    const { built, held, seen } = fixture();
    const { client } = await openGraph(built);
    const [running, preparing] = [await rawSocket(client, { init: true }), await rawSocket(client, { init: true })];

    running.say(live("one"));
    await until(() => seen.live === 1);
    running.say(live("one"));
    preparing.say(ask("zwei \u00fc", "subscription { slow }"));
    await until(() => seen.isOpening);
    preparing.say(live("zwei \u00fc"));

    expect(await running.closed).toEqual({ code: 4409, reason: "Subscriber for one already exists" });
    expect(await preparing.closed).toEqual({ code: 4409, reason: "Subscriber for zwei \u00fc already exists" });
    held.resolve();
    await until(() => seen.live === 0);
  });

  it.each([
    [93, "x", true],
    [94, "x", false],
    [46, "\u00fc", true],
    [47, "\u00fc", false],
  ])("leave out an id that does not fit into a close frame: %i times %s", async (length, letter, fits) => {
    const id = letter.repeat(length);
    const reason = fits ? `Subscriber for ${id} already exists` : "Subscriber already exists";
    const { client } = await openGraph(fixture().built);
    const socket = await rawSocket(client, { init: true });

    socket.say(live(id));
    socket.say(live(id));

    expect(await socket.closed).toEqual({ code: 4409, reason });
  });

  it("are 1001: Going away at shutdown, before and after connection_init", async () => {
    const { client, app } = await openGraph(fixture().built);
    const [silent, acknowledged] = [await rawSocket(client), await rawSocket(client, { init: true })];

    const closing = app.close();

    expect(await silent.closed).toEqual({ code: 1001, reason: "Going away" });
    expect(await acknowledged.closed).toEqual({ code: 1001, reason: "Going away" });
    await closing;
  });
});

describe("the messages in graphql-transport-ws", () => {
  it("return the payload of a ping in the pong, at any time, and ignore a pong", async () => {
    const { client } = await openGraph(fixture().built);
    const socket = await rawSocket(client);

    socket.say({ type: "pong" });
    socket.say({ type: "pong", payload: { it: "is ignored" } });
    socket.say({ type: "ping" });
    socket.say({ type: "ping", payload: { some: "payload" } });
    socket.say(init);

    expect(await socket.hear()).toEqual({ type: "pong" });
    expect(await socket.hear()).toEqual({ type: "pong", payload: { some: "payload" } });
    expect(await socket.hear()).toEqual({ type: "connection_ack" });
  });

  it("are one next and complete for a query, after which its id is free again", async () => {
    const { client } = await openGraph(fixture().built, {
      subscriptions: { operations: true },
      limits: { cost: null },
    });
    const socket = await rawSocket(client, { init: true });

    for (const round of [1, 2]) {
      socket.say(ask("1", "{ hello }"));

      expect(await socket.hear(), `round ${round}`).toEqual({
        id: "1",
        type: "next",
        payload: { data: { hello: "world" } },
      });
      expect(await socket.hear()).toEqual({ id: "1", type: "complete" });
    }
  });

  it("are one error for an invalid operation, after which the socket stays open and the id is free", async () => {
    const { client } = await openGraph(fixture().built);
    const socket = await rawSocket(client, { init: true });

    for (let round = 0; round < 2; round++) {
      socket.say(ask("1", "subscription { nope }"));
      expect(await socket.hear()).toMatchObject({
        id: "1",
        type: "error",
        payload: [{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }],
      });
    }
    socket.say({ type: "ping" });

    expect(await socket.hear()).toEqual({ type: "pong" });
  });

  it("are one next per event until the client completes the operation, and then nothing more of it", async () => {
    const { built, tick, seen } = fixture();
    const { client, app } = await openGraph(built, { limits: { cost: null } });
    const socket = await rawSocket(client, { init: true });
    const publish = (n: number) => app.pubsub.publish(tick, n);
    socket.say(live("1"));
    await until(() => seen.live === 1);
    await publish(1);
    await publish(2);

    expect(await socket.hear()).toEqual({ id: "1", type: "next", payload: { data: { live: 1 } } });
    expect(await socket.hear()).toEqual({ id: "1", type: "next", payload: { data: { live: 2 } } });
    socket.say({ type: "complete", id: "1" });
    await until(() => seen.live === 0);
    await publish(3);
    socket.say(live("1"));
    await until(() => seen.live === 1);
    await publish(4);

    expect(await socket.hear()).toEqual({ id: "1", type: "next", payload: { data: { live: 4 } } });
  });

  it("are an error without complete if a generator throws, and the socket stays open", async () => {
    const { client } = await openGraph(fixture().built, { limits: { cost: null } });
    const socket = await rawSocket(client, { init: true });

    socket.say(ask("1", "subscription { breaks }"));

    expect(await socket.hear()).toMatchObject({ id: "1", type: "next" });
    expect(await socket.hear()).toMatchObject({ id: "1", type: "error", payload: [{ message: "Unexpected error" }] });
    socket.say({ type: "ping" });
    expect(await socket.hear()).toEqual({ type: "pong" });
  });

  it("are none for an operation that the client completes while it is being prepared", async () => {
    const { built, held, seen } = fixture();
    const { client } = await openGraph(built);
    const socket = await rawSocket(client, { init: true });

    socket.say(ask("1", "subscription { slow }"));
    await until(() => seen.isOpening);
    socket.say({ type: "complete", id: "1" });
    socket.say({ type: "ping" });
    expect(await socket.hear()).toEqual({ type: "pong" });
    held.resolve();
    socket.say({ type: "complete", id: "unknown" });
    socket.say(ask("2", "subscription { nope }"));

    expect(await socket.hear()).toMatchObject({ id: "2", type: "error" });
  });

  it("end every operation of a socket whose client disconnects without closing it", async () => {
    const { built, seen } = fixture();
    const { client } = await openGraph(built);
    const socket = await rawSocket(client, { init: true });
    for (const id of ["1", "2", "3"]) socket.say(live(id));
    await until(() => seen.live === 3);

    socket.terminate();

    await expect.poll(() => seen.live).toBe(0);
  });
});
