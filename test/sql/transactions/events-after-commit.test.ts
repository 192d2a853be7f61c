import { setTimeout as sleep } from "node:timers/promises";
import { Depend, HttpException, memoryStores, PorticoApp, provide, topic } from "portico";
import { field, Graph, mutation, schema, t } from "portico/graphql";
import { type Database, openDatabase, type PorticoTables } from "portico/sql";
import { logCatcher, testClient } from "portico/testing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

interface Tables extends PorticoTables {
  books: { title: string };
}
const added = topic<{ title: string }>("books.added");

let database: Database<Tables>;
let heard: { title: string; isThere: boolean }[];
const end = new AbortController();
beforeEach(async () => {
  database = openDatabase<Tables>("sqlite::memory:");
  await database.schema.createTable("books").addColumn("title", "text").execute();
  heard = [];
});
afterEach(() => database.destroy());

const unitOfWork = provide(async function* ({ ctx }) {
  const trx = await database.begin();
  try {
    yield trx;
  } finally {
    await trx.end(ctx.outcome);
  }
});

function build(): PorticoApp {
  const app = new PorticoApp({ logger: false });
  app.onStart(() => void listen(app));
  app.post("/books/:title", { params: { trx: Depend(unitOfWork) } }, async ({ ctx, trx, path, query }) => {
    const { title } = path;
    const bus = ctx.pubsub;
    await trx.insertInto("books").values({ title }).execute();
    await bus.publish(added, { title });
    await sleep(10);
    expect(heard).toEqual([]);
    if (query["savepoint"] !== undefined) {
      const inner = await trx.begin();
      await ctx.pubsub.publish(added, { title: `${title}, inner` });
      await inner.end(query["savepoint"] === "kept" ? "success" : "failure");
    }
    if (title === "refused") throw new HttpException(409, "refused");
  });
  app.post("/news/:title", ({ ctx, path }) => ctx.pubsub.publish(added, { title: path.title }));
  const add = mutation(t.boolean, { params: { title: t.string, trx: Depend(unitOfWork) } })(
    async ({ ctx, title, trx }) => {
      await trx.insertInto("books").values({ title }).execute();
      await ctx.pubsub.publish(added, { title });
      if (title === "refused") throw new HttpException(409, "refused");
      return true;
    },
  );
  new Graph(schema({ query: { ok: field(t.boolean)(() => true) }, mutation: { add } })).mount(app);
  return app;
}

/** The received events, and whether another connection can read the data at that moment. */
async function listen(app: PorticoApp): Promise<void> {
  for await (const { title } of app.pubsub.subscribe(added, { signal: end.signal })) {
    const row = await database.selectFrom("books").selectAll().where("title", "=", title).executeTakeFirst();
    heard.push({ title, isThere: row !== undefined });
  }
}
const settled = (): Promise<void> => sleep(30);

it("publishes after the commit, when everyone can read the changed data", async () => {
  const answer = await testClient(build()).post("/books/Emma");
  await settled();

  expect(answer.status).toBe(204);
  expect(heard).toEqual([{ title: "Emma", isThere: true }]);
});

it("publishes nothing from a transaction that was rolled back", async () => {
  const client = testClient(build());

  expect((await client.post("/books/refused")).status).toBe(409);
  await client.post("/news/later");
  await settled();

  expect(heard).toEqual([{ title: "later", isThere: false }]);
});

it("publishes the events of a kept savepoint with its transaction, and none of a rolled back one", async () => {
  const client = testClient(build());

  await client.post("/books/Emma?savepoint=undone");
  await settled();
  expect(heard.map(({ title }) => title)).toEqual(["Emma"]);
  heard.length = 0;
  await client.post("/books/Persuasion?savepoint=kept");
  await settled();
  expect(heard.map(({ title }) => title)).toEqual(["Persuasion", "Persuasion, inner"]);
});

it("keeps the events of batch entries apart", async () => {
  const client = testClient(build());
  const entry = (title: string): object => ({ query: `mutation { add(title: "${title}") }` });

  const answer = await client.post("/graphql", { body: [entry("Emma"), entry("refused"), entry("Persuasion")] });
  await settled();

  expect((answer.json() as { errors?: unknown }[]).map(({ errors }) => errors !== undefined)).toEqual([
    false,
    true,
    false,
  ]);
  expect(heard.map(({ title }) => title).toSorted()).toEqual(["Emma", "Persuasion"]);
});

it("rejects a value that is not valid JSON when it is published, not after the commit", async () => {
  const app = new PorticoApp({ logger: false });
  // @ts-expect-error the compiler refuses it as well
  const broken = topic<{ n: bigint }>("broken");
  app.get("/", { params: { trx: Depend(unitOfWork) } }, async ({ ctx }) => {
    await expect(ctx.pubsub.publish(broken, { n: 1n })).rejects.toThrow("an event of broken");
    return "refused";
  });

  expect((await testClient(app).get("/")).status).toBe(200);
});

it("logs an event that the bus rejects after the commit, and publishes the next one", async () => {
  const [log, stores] = [logCatcher(), memoryStores()];
  const app = new PorticoApp({ logger: log, stores });
  app.post("/books", { params: { trx: Depend(unitOfWork) } }, async ({ ctx }) => {
    await ctx.pubsub.publish(added, { title: "lost" });
    await ctx.pubsub.publish(added, { title: "kept" });
  });
  const publish = vi.spyOn(stores.bus, "publish").mockRejectedValueOnce(new Error("the bus is down"));

  const answer = await testClient(app).post("/books");

  expect(answer.status).toBe(204);
  expect(publish.mock.calls.map(([, value]) => value)).toEqual([{ title: "lost" }, { title: "kept" }]);
  expect(log.lines).toEqual([
    expect.objectContaining({
      level: "error",
      msg: "failed to publish an event after its transaction was committed",
    }),
  ]);
});
