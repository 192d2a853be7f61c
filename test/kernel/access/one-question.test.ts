import { EventEmitter, on } from "node:events";
import { type Clock, identify, PorticoApp, type Rule, rule, topic, userChanged } from "portico";
import { SimpleUser } from "portico/auth";
import { field, Graph, loader, mutation, schema, subscription, t } from "portico/graphql";
import { type LiveClient, liveClient, manualClock } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";

// A rule reads memberships by a loader, as the guides recommend. A member is removed while a connection is open: everything that is
// asked from then on is answered anew. The clock stands still, so that time alone ends nothing.

const changes = topic<{ club: string; text: string }>("club.changes");
const CLUB = { club: "chess", text: "secret" };

interface Club {
  readonly app: PorticoApp;
  readonly members: Set<string>;
  /** How often the members were read. */
  readonly reads: () => number;
  /** How often the credential of an open connection was rechecked. */
  readonly rechecks: () => number;
  readonly isMember: Rule<{ club: string }, true>;
}

function club(clock: Clock = manualClock()): Club {
  const members = new Set(["eve"]);
  let reads = 0;
  let rechecks = 0;
  const membersOf = loader(async (clubs: readonly string[]) => {
    reads++;
    return clubs.map(() => [...members]);
  });
  const isMember = rule<{ club: string }>({
    name: "club.member",
    allows: async (user, one, { ctx }) => (await membersOf.load(ctx, one.club)).includes(user.identity),
  });
  const recheck = async (): Promise<boolean> => {
    rechecks++;
    return true;
  };
  const app = new PorticoApp({ logger: false, clock });
  app.use(async (ctx, next) => {
    identify(ctx, { user: new SimpleUser("eve"), auth: "session", recheck });
    await next();
  });
  app.get("/say", async ({ ctx }) => {
    await ctx.pubsub.publish(changes, CLUB);
    return "said";
  });
  return { app, members, reads: () => reads, rechecks: () => rechecks, isMember };
}

async function live(app: PorticoApp): Promise<LiveClient> {
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  return client;
}

it("each message of a socket is a question of its own, which is answered once", async () => {
  const { app, members, reads, isMember } = club();
  app.socket("/live", { auth: true }, async ({ socket, ctx }) => {
    for await (const message of socket) {
      const answers = [await ctx.can(isMember, CLUB), await ctx.can(isMember, CLUB)];
      socket.send(`${String(message)} ${answers.join()}`);
    }
  });
  const socket = await (await live(app)).socket("/live");
  const ask = (): Promise<string> => {
    socket.send("may I?");
    return socket.next();
  };

  expect([await ask(), reads()]).toEqual(["may I? true,true", 1]);
  members.clear();
  expect([await ask(), reads()]).toEqual(["may I? false,false", 2]);
});

it.each([true, false])(
  "each event that the generator of a subscription follows is one: it skips some of them, %s",
  async (isSkipped) => {
    const { app, members, reads, isMember } = club();
    const changed = subscription(t.string, { auth: true })(async function* ({ ctx }) {
      for await (const event of ctx.pubsub.subscribe(changes)) {
        const isAllowed = await ctx.can(isMember, event);
        // A generator may skip events, so that it does not yield between two questions.
        if (isAllowed || !isSkipped) yield isAllowed ? event.text : "denied";
      }
    });
    new Graph(schema({ query: { hello: field(t.string)(() => "hi") }, subscription: { changed } })).mount(app);
    const client = await live(app);
    const events = client.subscribe<{ changed: string }>("subscription { changed }");
    await events.ready();
    const next = async (): Promise<string | undefined> => (await events.next()).value?.data?.changed;

    await client.get("/say");
    expect(await next()).toBe("secret");
    members.clear();
    await client.get("/say");
    expect(isSkipped ? "denied" : await next()).toBe("denied");
    await expect.poll(reads).toBe(2);
    members.add("eve");
    await client.get("/say");
    expect(await next()).toBe("secret");
    await events.return();
  },
);

it("each event that a generator yields is one, whatever it follows", async () => {
  const { app, members, isMember } = club();
  const source = new EventEmitter();
  const changed = subscription(t.string, { auth: true })(async function* ({ ctx }) {
    for await (const [club] of on(source, "change", { signal: ctx.signal }))
      yield (await ctx.can(isMember, club as typeof CLUB)) ? "secret" : "denied";
  });
  new Graph(schema({ query: { hello: field(t.string)(() => "hi") }, subscription: { changed } })).mount(app);
  const client = await live(app);
  const events = client.subscribe<{ changed: string }>("subscription { changed }");
  const first = events.next();
  await expect.poll(() => source.listenerCount("change")).toBe(1);

  source.emit("change", CLUB);
  expect((await first).value?.data).toEqual({ changed: "secret" });
  members.clear();
  source.emit("change", CLUB);
  expect((await events.next()).value?.data).toEqual({ changed: "denied" });
  await events.return();
});

it("each event that a streamed response follows is one", async () => {
  const { app, members, isMember } = club();
  app.get("/stream", { auth: true }, ({ ctx, response }) => {
    async function* lines() {
      // Subscribed before the client learns that the stream is open.
      const events = ctx.pubsub.subscribe(changes)[Symbol.asyncIterator]();
      yield "open\n";
      for await (const event of { [Symbol.asyncIterator]: () => events })
        yield (await ctx.can(isMember, event)) ? `${event.text}\n` : "denied\n";
    }
    return response.stream(lines(), "text/plain");
  });
  const client = await live(app);
  const stream = await fetch(`${client.url}/stream`);
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  const line = async (): Promise<string> => Buffer.from((await reader.read()).value ?? []).toString();

  expect(await line()).toBe("open\n");
  const first = line();
  await client.get("/say");
  expect(await first).toBe("secret\n");
  members.clear();
  await client.get("/say");
  expect(await line()).toBe("denied\n");
  await reader.cancel();
});

it("a recheck ends what a socket remembers, also between two messages", async () => {
  const { app, members, isMember } = club();
  const source = new EventEmitter();
  app.socket("/live", { auth: true }, async ({ socket, ctx }) => {
    for await (const [club] of on(source, "ask", { signal: ctx.signal }))
      socket.send(String(await ctx.can(isMember, club as typeof CLUB)));
  });
  const client = await live(app);
  const socket = await client.socket("/live");
  await expect.poll(() => source.listenerCount("ask")).toBe(1);
  const ask = (): Promise<string> => {
    source.emit("ask", CLUB);
    return socket.next();
  };

  expect(await ask()).toBe("true");
  members.clear();
  await app.pubsub.publish(userChanged, { user: "eve" });
  await expect.poll(ask).toBe("false");
});

it("a socket that follows a timer remembers nothing for longer than a second", async () => {
  const clock = manualClock();
  const { app, members, reads, rechecks, isMember } = club(clock);
  const source = new EventEmitter();
  app.socket("/live", { auth: true }, async ({ socket, ctx }) => {
    for await (const [club] of on(source, "tick", { signal: ctx.signal }))
      socket.send(String(await ctx.can(isMember, club as typeof CLUB)));
  });
  const socket = await (await live(app)).socket("/live");
  await expect.poll(() => source.listenerCount("tick")).toBe(1);
  // The first connection is rechecked once the subscription to revocations is active, which ends what it remembers.
  await expect.poll(rechecks).toBe(1);
  const tick = (): Promise<string> => {
    source.emit("tick", CLUB);
    return socket.next();
  };

  expect([await tick(), await tick(), reads()]).toEqual(["true", "true", 1]);
  members.clear();
  clock.advance(1_000);
  expect([await tick(), reads()]).toEqual(["false", 2]);
});

it.each(["portico", "graphql-js"] as const)(
  "each root field of a mutation is one: executed by %s",
  async (executor) => {
    const { app, members, isMember } = club();
    const asked: string[] = [];
    const isListed = async (user: { readonly identity: string }): Promise<boolean> => {
      asked.push(user.identity);
      return members.has(user.identity);
    };
    const remove = mutation(t.nullable(t.boolean), { auth: true })(async ({ ctx }) => {
      await ctx.authorize(isMember, CLUB);
      members.delete(ctx.user.identity);
      return true;
    });
    const read = mutation(t.nullable(t.string), { auth: true })(
      async ({ ctx }) => (await ctx.authorize(isMember, CLUB)).text,
    );
    const listed = mutation(t.nullable(t.string), { auth: isListed })(() => "listed");
    const query = { hello: field(t.string)(() => "hi") };
    new Graph(schema({ query, mutation: { remove, read, listed } }), { executor }).mount(app);
    const { data, errors = [] } = await (await live(app)).graphql("mutation { a: listed remove read b: listed }");

    expect(data).toEqual({ a: "listed", remove: true, read: null, b: null });
    expect(errors.map(({ extensions }) => extensions?.["code"])).toEqual(["NOT_FOUND", "FORBIDDEN"]);
    expect(asked).toEqual(["eve", "eve"]);
  },
);

it("another caller is asked for anew", async () => {
  const app = new PorticoApp({ logger: false });
  const nameOf = loader(async (ids: readonly string[], { ctx }) => ids.map((id) => `${id} of ${ctx.user.identity}`));
  const become = (ctx: Parameters<typeof identify>[0], name: string): void => {
    identify(ctx, { user: new SimpleUser(name), auth: "session" });
  };
  app.get("/switch", async ({ ctx }) => {
    become(ctx, "ann");
    const first = await nameOf.load(ctx, "1");
    become(ctx, "bob");
    return [first, await nameOf.load(ctx, "1")];
  });

  const response = await (await live(app)).get("/switch");

  expect(response.json()).toEqual(["1 of ann", "1 of bob"]);
});
