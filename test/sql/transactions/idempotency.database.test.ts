import { setImmediate } from "node:timers/promises";
import { Conflict, Depend, memoryStores, PorticoApp, provide, userChanged } from "portico";
import { SimpleUser } from "portico/auth";
import { field, Graph, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import {
  type Database,
  idempotencyMigration,
  migrate,
  openDatabase,
  type PorticoTables,
  type Transaction,
  transaction,
} from "portico/sql";
import { liveClient, type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { engineNames, newPlace, type Place } from "../accounts/databases.ts";

interface Tables extends PorticoTables {
  orders: { id: number; book: string };
}

const ann = new SimpleUser("ann", ["order"]);
const bob = new SimpleUser("bob", ["order"]);
const KEY = { "idempotency-key": "key-1" };

const ended = (): AsyncIterator<never, void, void> => ({ next: async () => ({ done: true, value: undefined }) });
/** Events that never come. */
const never = (): AsyncIterator<never, void, void> => ({ next: () => new Promise(() => {}) });

describe.each(engineNames)("idempotent on %s", (engine) => {
  let place: Place;
  let database: Database<Tables>;
  let app: PorticoApp;
  let client: TestClient;
  let stores: ReturnType<typeof memoryStores>;
  let ran: number;
  /** Opens when a test lets the work go on. */
  let gate: Promise<void> | null;
  let begun: PromiseWithResolvers<void>;

  beforeAll(async () => {
    place = await newPlace(engine);
    database = place.open<Tables>();
    await migrate(database, "up", { migrations: [idempotencyMigration] });
    await database.schema
      .createTable("orders")
      .addColumn("id", "integer", (column) => column.notNull())
      .addColumn("book", "text")
      .execute();
  });
  afterAll(() => place.remove());
  beforeEach(async () => {
    await database.deleteFrom("orders").execute();
    await database.deleteFrom("portico_idempotency" as never).execute();
    ran = 0;
    gate = null;
    begun = Promise.withResolvers();
    stores = memoryStores();
    app = shop(database);
    client = testClient(app).as(ann);
    return () => app.close();
  });

  function shop(on: Database<Tables>, waitSeconds = 10): PorticoApp {
    const inTransaction = transaction(on);
    const idempotent = { in: inTransaction, waitSeconds };
    const place = async (trx: Transaction<Tables>, book: string) => {
      const id = ++ran;
      begun.resolve();
      await gate;
      await trx.insertInto("orders").values({ id, book }).execute();
      if (book === "none") throw new Conflict("There is no such book");
      return { id, book };
    };
    const Order = z.object({ id: z.int(), book: z.string() });
    const made = new PorticoApp({ stores, logger: false, cursorKeys: "a secret of 32 bytes for the tests of keys" });
    const may = (user: { hasPermission(name: string): boolean }) => user.hasPermission("order");
    made.post(
      "/orders",
      {
        auth: may,
        body: z.object({ book: z.string() }),
        response: { 201: Order },
        params: { trx: inTransaction },
        idempotent,
      },
      async ({ trx, body, response }) =>
        response
          .header("location", `/orders/${ran + 1}`)
          .status(201)
          .json(await place(trx, body.book)),
    );
    made.post(
      "/signed",
      { auth: may, response: Order, params: { trx: inTransaction }, idempotent },
      async ({ trx, response }) => response.cookie("a", "b").json(await place(trx, "cookie")),
    );
    made.post(
      "/long",
      { auth: may, response: z.string(), params: { trx: inTransaction }, idempotent },
      async ({ trx }) => "x".repeat(256 * 1024 + (await place(trx, "long")).id),
    );
    made.delete(
      "/orders/:id",
      { auth: may, response: { 204: null }, params: { trx: inTransaction }, idempotent: inTransaction },
      async ({ trx, path, response }) => {
        ran++;
        await trx.deleteFrom("orders").where("id", "=", Number(path.id)).execute();
        return response.status(204).empty();
      },
    );
    const OrderType: ObjectType<{ id: number; book: string }> = object("Order", {
      id: field(t.int),
      book: field(t.string),
      secret: field(t.nullable(t.string), { auth: (user) => user.hasPermission("audit") })(() => "s"),
    });
    const mutations = {
      order: mutation(OrderType, {
        params: { book: t.string, trx: inTransaction },
        auth: may,
        idempotent,
      })(({ trx, book }) => place(trx, book)),
      audit: mutation(t.int, {
        params: { trx: inTransaction },
        auth: (user) => user.hasPermission("audit"),
        idempotent,
      })(() => ++ran),
      other: mutation(t.int)(() => ++ran),
    };
    new Graph(schema({ query: { one: field(t.int)(() => ++ran) }, mutation: mutations })).mount(made);
    return made;
  }

  const orders = () => database.selectFrom("orders").select("id").execute();
  const order = (over = client, book = "Emma", headers: Record<string, string> = KEY) =>
    over.post("/orders", { headers, body: { book } });
  const ORDER = "mutation Order($book: String!) { order(book: $book) { id book } }";
  const ask = (over: TestClient, query: string, key?: unknown, variables: object = {}) =>
    over.post("/graphql", { body: { query, variables, extensions: key === undefined ? {} : { idempotencyKey: key } } });

  it("does the work once, and sends the response again", async () => {
    const first = await order();
    const second = await order();

    expect([first.status, first.json(), first.headers["idempotent-replayed"]]).toEqual([
      201,
      { id: 1, book: "Emma" },
      undefined,
    ]);
    expect([second.status, second.text(), second.headers["location"], second.headers["content-type"]]).toEqual([
      201,
      first.text(),
      "/orders/1",
      first.headers["content-type"],
    ]);
    expect(second.headers["idempotent-replayed"]).toBe("true");
    expect([ran, (await orders()).length]).toEqual([1, 1]);
  });

  it("does the work of requests without a key each time", async () => {
    await order(client, "Emma", {});
    await order(client, "Emma", {});

    expect((await orders()).length).toBe(2);
  });

  it("reads a quoted key as the same one", async () => {
    await order(client, "Emma", { "idempotency-key": '"key-1"' });
    await order();

    expect(ran).toBe(1);
  });

  it.each(["a b", "a,b", "", "ä", "x".repeat(256), '"open', '""'])("rejects the key %j with 400", async (key) => {
    const response = await order(client, "Emma", { "idempotency-key": key });
    const { status, body } = await ask(client, ORDER, key, { book: "Emma" }).then((it) => ({
      status: it.status,
      body: it.json() as { errors: { extensions: { code: string } }[] },
    }));

    expect([response.status, response.json()]).toMatchObject([400, { code: "idempotency_key_invalid" }]);
    expect([status, body.errors[0]?.extensions.code]).toEqual([400, "IDEMPOTENCY_KEY_INVALID"]);
    expect(ran).toBe(0);
  });

  it("accepts a key of 255 characters", async () => {
    expect((await order(client, "Emma", { "idempotency-key": "x".repeat(255) })).status).toBe(201);
  });

  it("rejects another request with the key", async () => {
    await order();
    const other = await order(client, "Persuasion");
    const elsewhere = await client.delete("/orders/1", { headers: KEY });
    const graph = await ask(client, ORDER, "key-1", { book: "Emma" });

    expect([other.status, other.json()]).toMatchObject([422, { code: "idempotency_key_reused" }]);
    expect([elsewhere.status, graph.status, ran]).toEqual([422, 422, 1]);
  });

  it("keeps the keys of two callers apart", async () => {
    const [first, second] = [await order(), await order(testClient(app).as(bob))];

    expect([first.json(), second.json()]).toEqual([
      { id: 1, book: "Emma" },
      { id: 2, book: "Emma" },
    ]);
  });

  it("asks the gate again, also after the caller has signed out", async () => {
    await order();
    const out = await order(testClient(app));
    const refused = await order(testClient(app).as(new SimpleUser("ann")));

    expect([out.status, refused.status]).toEqual([401, 403]);
  });

  it("sends nothing again after the grants of the caller have changed", async () => {
    await order();
    const changed = await order(testClient(app).as(new SimpleUser("ann", ["order", "more"])));

    expect([changed.status, changed.json()]).toMatchObject([409, { code: "already_done" }]);
    expect(changed.text()).not.toContain("Emma");
    expect(ran).toBe(1);
  });

  it.each(["ann", null])("sends nothing again after userChanged of %s, such as for a membership", async (user) => {
    await order();
    await order(testClient(app).as(bob));
    await stores.bus.publish(userChanged, { user });

    await expect.poll(async () => (await order()).status).toBe(409);
    expect((await order(testClient(app).as(bob))).status).toBe(user === null ? 409 : 201);
    expect((await order(client, "Emma", { "idempotency-key": "key-2" })).status).toBe(201);
  });

  it("lets other work run when the bus has closed, which ends every subscription at once", async () => {
    let subscriptions = 0;
    // A process that subscribed without a pause would never read another request, and this test would never end.
    stores.bus.subscribe = () => ({ [Symbol.asyncIterator]: ++subscriptions > 100 ? never : ended });
    await order();
    for (let turn = 0; turn < 10; turn++) await setImmediate();

    expect(subscriptions).toBeGreaterThan(0);
    expect(subscriptions).toBeLessThan(10);
  });

  it("does the work again after a failure, which is not stored", async () => {
    const failed = await order(client, "none");
    const again = await order(client, "none");

    expect([failed.status, again.status, ran, (await orders()).length]).toEqual([409, 409, 2, 0]);
    expect(again.json()).toMatchObject({ code: "conflict" });
  });

  it("does the work again when the key has expired", async () => {
    await order();
    await database
      .updateTable("portico_idempotency" as never)
      .set({ expires_ms: 1 } as never)
      .execute();

    expect([(await order()).json(), (await order()).json()]).toEqual([
      { id: 2, book: "Emma" },
      { id: 2, book: "Emma" },
    ]);
  });

  it("stores neither a response with a cookie nor a long one", async () => {
    for (const path of ["/signed", "/long"]) {
      const send = () => client.post(path, { headers: { "idempotency-key": path } });
      const [first, second] = [await send(), await send()];

      expect([first.status, second.status, second.json()]).toMatchObject([200, 409, { code: "already_done" }]);
      expect(second.cookies).toEqual([]);
    }
    expect(ran).toBe(2);
  });

  it("repeats an empty response, although the row is gone", async () => {
    await order();
    const send = () => client.delete("/orders/1", { headers: { "idempotency-key": "key-2" } });

    expect([(await send()).status, (await send()).status, (await send()).text(), ran]).toEqual([204, 204, "", 2]);
  });

  it("rejects a body that it would not compare", async () => {
    const { status } = await client.post("/signed", { headers: KEY, body: { any: 1 } });

    expect([status, ran]).toEqual([400, 0]);
  });

  it("stores bodies sealed, and bound to the key and the caller", async () => {
    await order();
    await order(testClient(app).as(bob), "Persuasion");
    const table = "portico_idempotency" as never;
    const rows = (await database.selectFrom(table).selectAll().execute()) as { caller: string; response: Uint8Array }[];
    const ofAnn = rows.find(({ caller }) => caller === "ann");
    expect(rows.map(({ response }) => Buffer.from(response).includes("Emma"))).toEqual([false, false]);
    await database
      .updateTable(table)
      .set({ response: ofAnn?.response } as never)
      .where("caller" as never, "=", "bob" as never)
      .execute();

    const moved = await order(testClient(app).as(bob), "Persuasion");

    expect([moved.status, moved.json()]).toMatchObject([409, { code: "already_done" }]);
  });

  it("lets retries wait for the first request, without a connection for each", async () => {
    const open = Promise.withResolvers<void>();
    gate = open.promise;
    const first = order();
    await begun.promise;
    const others = Array.from({ length: 30 }, () => order());
    // More than the pool has connections, so a wait that held one would block this query.
    await database.selectFrom("orders").select("id").execute();
    open.resolve();

    const responses = await Promise.all([first, ...others]);

    expect(new Set(responses.map((response) => `${response.status} ${response.text()}`))).toEqual(
      new Set(['201 {"id":1,"book":"Emma"}']),
    );
    expect(ran).toBe(1);
  });

  it("lets one of the waiting requests do the work if the first one fails", async () => {
    const open = Promise.withResolvers<void>();
    gate = open.promise;
    const first = order(client, "none");
    await begun.promise;
    const second = order(client, "none");
    open.resolve();

    expect([(await first).status, (await second).status, ran]).toEqual([409, 409, 2]);
  });

  it("responds with 409 when the wait is over", async () => {
    await app.close();
    app = shop(database, 0);
    client = testClient(app).as(ann);
    const open = Promise.withResolvers<void>();
    gate = open.promise;
    const first = order();
    await begun.promise;

    const second = await order();

    expect([second.status, second.json(), second.headers["retry-after"]]).toMatchObject([
      409,
      { code: "request_in_progress" },
      "1",
    ]);
    open.resolve();
    expect((await first).status).toBe(201);
  });

  it("works over a socket, for concurrent requests of two processes", async () => {
    // A second process has another pool, and knows nothing of the requests of the first one.
    const other = shop(place.open<Tables>());
    const clients = await Promise.all([liveClient(app), liveClient(other)]);
    try {
      const sent = Array.from({ length: 20 }, (_, at) => order((clients[at % 2] as TestClient).as(ann)));
      const responses = await Promise.all(sent);
      const bodies = new Set(responses.filter(({ status }) => status !== 409).map((response) => response.text()));
      expect(bodies.size).toBe(1);
      expect((await orders()).length).toBe(1);
    } finally {
      await Promise.all(clients.map((one) => one.close()));
      await other.close();
    }
  });

  it("sends the response of a mutation again, with its partial errors", async () => {
    const query = 'mutation { order(book: "Emma") { id secret } audit }';
    const first = await ask(client, query, "key-1");
    const second = await ask(client, query, "key-1");

    expect(first.json()).toMatchObject({
      data: { order: { id: 1, secret: null }, audit: null },
      errors: [{ path: ["order", "secret"] }, { path: ["audit"] }],
    });
    expect([second.status, second.text()]).toEqual([200, first.text()]);
    expect(second.headers["idempotent-replayed"]).toBe("true");
    expect([ran, (await orders()).length]).toEqual([1, 1]);
  });

  it("asks the gates of a mutation again, and runs nothing", async () => {
    await ask(client, ORDER, "key-1", { book: "Emma" });
    const refused = await ask(testClient(app).as(new SimpleUser("ann")), ORDER, "key-1", { book: "Emma" });

    expect(refused.text()).not.toContain('"Emma"');
    expect([refused.status, ran]).toEqual([409, 1]);
  });

  it("rejects another document, other variables or another operation with the key", async () => {
    await ask(client, ORDER, "key-1", { book: "Emma" });
    const others = [
      await ask(client, ORDER, "key-1", { book: "Persuasion" }),
      await ask(client, `${ORDER} `, "key-1", { book: "Emma" }),
    ];

    expect(others.map(({ status }) => status)).toEqual([422, 422]);
    expect(others[0]?.json()).toMatchObject({ errors: [{ extensions: { code: "IDEMPOTENCY_KEY_REUSED" } }] });
  });

  it("does a failed mutation again", async () => {
    await ask(client, ORDER, "key-1", { book: "none" });
    await ask(client, ORDER, "key-1", { book: "none" });

    expect([ran, (await orders()).length]).toEqual([2, 0]);
  });

  it("rejects a key for a mutation that does not declare it", async () => {
    const alone = await ask(client, "mutation { other }", "key-1");
    const mixed = await ask(client, 'mutation { order(book: "Emma") { id } other }', "key-1");

    expect([alone.status, mixed.status, ran]).toEqual([400, 400, 0]);
    expect(alone.json()).toMatchObject({ errors: [{ extensions: { code: "IDEMPOTENCY_NOT_SUPPORTED" } }] });
  });

  it("ignores the key of a query, and of a GET request", async () => {
    const responses = [await ask(client, "{ one }", "key-1"), await ask(client, "{ one }", "key-1")];

    expect(responses.map((response) => response.json())).toMatchObject([{ data: { one: 1 } }, { data: { one: 2 } }]);
    expect((await client.get("/graphql?query={one}&extensions={%22idempotencyKey%22:%22k%22}")).status).toBe(200);
  });

  it("has a key for each operation of a batch", async () => {
    const one = (key: string) => ({ query: ORDER, variables: { book: key }, extensions: { idempotencyKey: key } });
    const body = [one("a"), one("b"), one("a")];
    const first = await client.post("/graphql", { body });
    const second = await client.post("/graphql", { body });

    expect(first.json()).toMatchObject([
      { data: { order: { id: 1 } } },
      { data: { order: { id: 2 } } },
      { data: { order: { id: 1 } } },
    ]);
    expect(second.text()).toBe(first.text());
    expect((await orders()).length).toBe(2);
  });

  it("shares the wait of concurrent mutations", async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => ask(client, ORDER, "key-1", { book: "Emma" })),
    );

    expect(new Set(responses.map((response) => response.text())).size).toBe(1);
    expect(ran).toBe(1);
  });

  it("does not start without the table", async () => {
    const bare = await newPlace(engine);
    try {
      await expect(testClient(shop(bare.open<Tables>())).get("/")).rejects.toThrow(
        "the database has no table portico_idempotency. Append idempotencyMigration",
      );
    } finally {
      await bare.remove();
    }
  });
});

describe("a declaration of idempotent", () => {
  const database = openDatabase<Tables>("sqlite::memory:");
  const trx = transaction(database);
  const response = z.string();
  const work = () => "done";

  it("is refused for a stream, an upload, and a method that changes nothing", () => {
    expect(() => new PorticoApp().post("/", { auth: true, params: { trx }, idempotent: trx }, work)).toThrow(
      "POST /.idempotent requires response",
    );
    expect(() => new PorticoApp().get("/", { response, params: { trx }, idempotent: trx }, work)).toThrow(
      "is not supported for this method",
    );
    const upload = mutation(t.int, { params: { file: t.upload, trx }, auth: true, idempotent: trx })(() => 1);
    const graph = schema({ query: { one: field(t.int)(() => 1) }, mutation: { upload } });
    expect(() => new Graph(graph).mount(new PorticoApp())).toThrow("cannot be combined with an upload");
  });

  it("is refused without the transaction, or with two of them", () => {
    const other = provide({ trx })(({ trx }) => trx);
    expect(() => new PorticoApp().post("/", { auth: true, response, idempotent: trx }, work)).toThrow(
      "is not among the parameters",
    );
    expect(() =>
      new PorticoApp().post(
        "/",
        { auth: true, response, params: { trx, other: Depend(other) }, idempotent: trx },
        work,
      ),
    ).toThrow("is opened 2 times");
    const value = Depend((): Transaction<Tables> => null as never);
    expect(() =>
      new PorticoApp().post("/", { auth: true, response, params: { value }, idempotent: value }, work),
    ).toThrow("must be a transaction made by transaction(database)");
  });

  it("is refused for anonymous callers", async () => {
    const app = new PorticoApp({ logger: false }).post("/", { response, params: { trx }, idempotent: trx }, work);
    await expect(app.inject("/")).rejects.toThrow("requires auth for signed-in users");
    expect(() => mutation(t.int, { params: { trx }, idempotent: trx })).toThrow("requires auth for signed-in users");
    expect(() => field(t.int, { params: { trx }, auth: true, idempotent: trx } as never)).toThrow(
      "is only an option of mutation()",
    );
  });
});
