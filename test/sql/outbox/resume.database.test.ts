import { memoryStores, PorticoApp, type PubSub, rule, topic } from "portico";
import { AuthenticationBackend, AuthenticationMiddleware, AuthResult, SimpleUser } from "portico/auth";
import { field, Graph, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { type Database, sqlStores, transaction } from "portico/sql";
import { type GraphResult, liveClient, testClient } from "portico/testing";
import { createClient } from "portico-client";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { engineNames, migratedPlace, type Place } from "../accounts/databases.ts";

interface Change {
  readonly ticket: string;
  readonly n: number;
  readonly team?: string;
}
interface Data {
  readonly changed: { readonly n: number } | null;
}

const changeOf = (ticket: string) => topic<Change>(`resume-test.${ticket}`, { keep: "1h" });
const DOCUMENT = "subscription ($id: ID!) { changed(id: $id) { n } }";

/** The team of each user. */
const teams = new Map<string, string>();
const ofTeam = rule<Change>({
  name: "change.team",
  anonymous: true,
  allows: (user, { team }) => team === undefined || teams.get(user.identity) === team,
});

class ByHeader extends AuthenticationBackend {
  readonly scope = "apikey" as const;
  async authenticate(request: Parameters<AuthenticationBackend["authenticate"]>[0]): Promise<AuthResult> {
    const name = request.headers["x-user"];
    return name === undefined ? AuthResult.decline("no user header") : AuthResult.accept(name, this.scope);
  }
}

interface Served {
  readonly app: PorticoApp;
  readonly bus: PubSub;
  /** Publishes changes of a ticket, one after the other. */
  publish(ticket: string, ...numbers: readonly number[]): Promise<void>;
  /** Follows a ticket over HTTP. */
  follow(ticket: string, position?: string, user?: string): ReturnType<ReturnType<typeof testClient>["subscribe"]>;
}

describe.each(engineNames)("subscriptions that resume on %s", (engine) => {
  let place: Place;
  let database: Database<any>;
  /** Called for each event before it is sent. */
  let onEvent: (change: Change, bus: PubSub) => unknown;
  beforeAll(async () => {
    place = await migratedPlace(engine);
    database = place.open<any>();
  });
  beforeEach(() => {
    onEvent = () => {};
  });
  afterAll(() => place.remove());

  /** An application over the database, as in another process. */
  const serve = (pingSeconds = 12): Served => {
    const { bus } = sqlStores(place.open());
    const Ticket: ObjectType<Change> = object("Ticket", { n: t.int }, { auth: ofTeam });
    const app = new PorticoApp({
      logger: false,
      stores: { ...memoryStores(), bus },
      cursorKeys: ["the positions of these tests, 0123456789abcdef"],
      shutdown: { signals: [], delaySeconds: 0, socketSeconds: 0, deadlineSeconds: 1 },
    });
    app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: [new ByHeader()] }));
    const built = schema({
      query: { ok: field(t.boolean)(() => true) },
      subscription: {
        changed: subscription(Ticket, { params: { id: t.id }, from: ({ id }) => changeOf(id) })(async ({ event }) => {
          await onEvent(event, bus);
          return event.n < 0 ? undefined : event;
        }),
        plain: subscription(t.int)(async function* () {
          yield 1;
        }),
      },
    });
    new Graph(built, { subscriptions: { pingSeconds } }).mount(app);
    app.post("/changes/:ticket/:from/:to", { params: { trx: transaction(database) } }, async ({ ctx, path }) => {
      const { ticket, from, to } = path;
      for (let n = Number(from); n <= Number(to); n++) await ctx.pubsub.publish(changeOf(ticket), { ticket, n });
    });
    onTestFinished(() => app.close());
    return {
      app,
      bus,
      async publish(ticket, ...numbers) {
        for (const n of numbers) await bus.publish(changeOf(ticket), { ticket, n });
      },
      follow: (ticket, position, user) =>
        testClient(app).subscribe<any>(
          DOCUMENT,
          { id: ticket },
          {
            headers: {
              ...(position === undefined ? {} : { "last-event-id": position }),
              ...(user === undefined ? {} : { "x-user": user }),
            },
          },
        ),
    };
  };

  /** Reads events until `last`, and returns their numbers and the position after them. */
  async function readTo(
    events: ReturnType<Served["follow"]>,
    last: number,
  ): Promise<{ numbers: number[]; position: string }> {
    const numbers: number[] = [];
    for (;;) {
      const { value } = await events.next();
      const { data, errors, extensions } = value as {
        data?: Data;
        errors?: unknown;
        extensions?: { position: string };
      };
      if (data?.changed === undefined) throw new Error(JSON.stringify(errors));
      numbers.push(data.changed?.n ?? Number.NaN);
      if (numbers.at(-1) === last) return { numbers, position: extensions?.position ?? "" };
    }
  }

  /** A position after the first event of a ticket. */
  async function afterFirst(served: Served, ticket: string): Promise<string> {
    const events = served.follow(ticket);
    await events.ready();
    await served.publish(ticket, 1);
    const { position } = await readTo(events, 1);
    await events.return();
    return position;
  }

  it("continue in another process, with events that are published during the replay", async () => {
    const [here, there] = [serve(), serve()];
    const position = await afterFirst(here, "moved");
    await here.publish("moved", 2, 3, 4, 5);
    let next = 6;
    onEvent = ({ n }, bus) =>
      next <= 20 && n > 1 ? bus.publish(changeOf("moved"), { ticket: "moved", n: next++ }) : null;

    const { numbers } = await readTo(there.follow("moved", position), 20);

    expect(numbers).toEqual(Array.from({ length: 19 }, (_, index) => index + 2));
  });

  it("continue after each event of a long absence, in pages", async () => {
    const served = serve();
    const position = await afterFirst(served, "long");
    const all = Array.from({ length: 1_200 }, (_, index) => index + 2);
    await testClient(served.app).post("/changes/long/2/1201");

    const first = await readTo(served.follow("long", position), 601);
    const second = await readTo(served.follow("long", first.position), 1_201);

    expect([...first.numbers, ...second.numbers]).toEqual(all);
  });

  it.each(["sse", "websocket"] as const)("continue in portico-client over %s after a restart", async (transport) => {
    const [first, other] = [serve(), serve()];
    const ticket = `restarted-${transport}`;
    const { url, port } = await liveClient(first.app);
    const client = createClient({ url, transport });
    const [busy, quiet] = [
      client.subscribe<Data>(DOCUMENT, { variables: { id: ticket } }),
      client.subscribe<Data>(DOCUMENT, { variables: { id: `${ticket}-quiet` } }),
    ];
    const awaited = quiet.next();
    const began = busy.next();
    // Two of the application, two of the outbox, and those of the subscriptions.
    await expect.poll(() => first.bus.topicCount).toBe(6);
    await other.publish(ticket, 1);
    expect((await began).value).toEqual({ data: { changed: { n: 1 } }, error: null, gap: false });

    await first.app.close();
    await other.publish(ticket, 2, 3);
    await other.publish(`${ticket}-quiet`, 1);
    await serve().app.listen({ port });

    expect((await busy.next()).value).toEqual({ data: { changed: { n: 2 } }, error: null, gap: false });
    expect((await awaited).value).toEqual({ data: { changed: { n: 1 } }, error: null, gap: false });
    expect((await busy.next()).value).toEqual({ data: { changed: { n: 3 } }, error: null, gap: false });
    await Promise.all([busy.return(), quiet.return()]);
  });

  it.each(["sse", "websocket"] as const)(
    "begin anew in portico-client over %s, with a gap, if they can't",
    async (transport) => {
      const first = serve();
      const { url, port } = await liveClient(first.app);
      const ticket = `gone-${transport}`;
      const events = createClient({ url, transport }).subscribe<Data>(DOCUMENT, { variables: { id: ticket } });
      const began = events.next();
      await expect.poll(() => first.bus.topicCount).toBe(5);
      await first.publish(ticket, 1);
      expect((await began).value).toMatchObject({ data: { changed: { n: 1 } } });

      await first.app.close();
      await database.insertInto("portico_event_floors").values({ keep: "1h", seq: 1_000_000 }).execute();
      onTestFinished(async () => void (await database.deleteFrom("portico_event_floors").execute()));
      await serve().app.listen({ port });

      expect((await events.next()).value).toEqual({ data: null, error: null, gap: true });
      await events.return();
    },
  );

  it("ask the rules of the caller about each event that is sent again", async () => {
    const served = serve();
    teams.set("ada", "red");
    const position = await afterFirst(served, "teams");
    const change = (n: number, team?: string) =>
      served.bus.publish(changeOf("teams"), { ticket: "teams", n, ...(team === undefined ? {} : { team }) });
    await change(2, "red");
    await change(3, "blue");
    await change(4);

    const before = await readTo(served.follow("teams", position, "ada"), 4);
    teams.set("ada", "blue");
    const after = await readTo(served.follow("teams", position, "ada"), 4);
    const anonymous = await readTo(served.follow("teams", position), 4);

    expect(before.numbers).toEqual([2, 4]);
    expect(after.numbers).toEqual([3, 4]);
    expect(anonymous.numbers).toEqual([4]);
  });

  it("skip events for which the resolver returns undefined", async () => {
    const served = serve();
    const position = await afterFirst(served, "skipped");
    await served.publish("skipped", -2, 3, -4, 5);

    expect((await readTo(served.follow("skipped", position), 5)).numbers).toEqual([3, 5]);
  });

  it("end with the error of the resolver, so that the client can continue before this event", async () => {
    const served = serve();
    const position = await afterFirst(served, "failing");
    await served.publish("failing", 2, 3);
    onEvent = ({ n }) => {
      if (n === 3) throw new Error("the mailbox is full");
    };

    const failing = served.follow("failing", position);
    const { position: second } = await readTo(failing, 2);
    const failed = (await failing.next()).value;
    onEvent = () => {};
    const again = await readTo(served.follow("failing", second), 3);

    expect(failed).toMatchObject({ errors: [{ extensions: { code: "INTERNAL_SERVER_ERROR" } }] });
    expect(failed).not.toHaveProperty("data");
    expect(again.numbers).toEqual([3]);
  });

  describe("refuse a position", () => {
    const refusal = async (served: Served, ticket: string, position: string): Promise<unknown> => {
      const { value } = await served.follow(ticket, position).next();
      return (value as GraphResult).errors?.[0]?.extensions["code"];
    };

    it("of other arguments, of nothing, and for a generator", async () => {
      const served = serve();
      const position = await afterFirst(served, "mine");
      const plain = testClient(served.app).subscribe(
        "subscription { plain }",
        {},
        { headers: { "last-event-id": position } },
      );

      expect(await refusal(served, "other", position)).toBe("POSITION_REFUSED");
      expect(await refusal(served, "mine", `${position}A`)).toBe("POSITION_REFUSED");
      expect(await refusal(served, "mine", "12")).toBe("POSITION_REFUSED");
      expect((await plain.next()).value).toMatchObject({ errors: [{ extensions: { code: "POSITION_REFUSED" } }] });
    });

    it("that is older than keep", async () => {
      const served = serve();
      const position = await afterFirst(served, "old");
      await served.publish("old", 2);
      await database.insertInto("portico_event_floors").values({ keep: "1h", seq: 1_000_000 }).execute();
      onTestFinished(async () => void (await database.deleteFrom("portico_event_floors").execute()));

      expect(await refusal(served, "old", position)).toBe("POSITION_REFUSED");
    });

    it("of a database that was replaced, where the numbers may be used again", async () => {
      const position = await afterFirst(serve(), "replaced");
      const { id } = await database.selectFrom("portico_outbox").select("id").executeTakeFirstOrThrow();
      await database.updateTable("portico_outbox").set({ id: "another" }).execute();
      onTestFinished(async () => void (await database.updateTable("portico_outbox").set({ id }).execute()));

      expect(await refusal(serve(), "replaced", position)).toBe("POSITION_REFUSED");
    });
  });

  it("receive positions while nothing happens, so that these stay young", async () => {
    const served = serve(0.1);
    const { url } = await liveClient(served.app);
    const response = await fetch(`${url}/graphql`, {
      method: "POST",
      headers: { accept: "text/event-stream", "content-type": "application/json" },
      body: JSON.stringify({ query: DOCUMENT, variables: { id: "idle" } }),
    });
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString();
    })();
    const ids = (): readonly string[] => [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => String(id));
    await expect.poll(() => ids().length).toBe(1);
    await served.publish("elsewhere", 1);
    await expect.poll(() => new Set(ids()).size).toBeGreaterThanOrEqual(2);
    await served.publish("idle", 7);

    await expect.poll(() => text).toContain('"n":7');
    const { numbers } = await readTo(serve().follow("idle", ids()[1]), 7);
    expect(numbers).toEqual([7]);
    await served.app.close();
    await reading;
  });
});
