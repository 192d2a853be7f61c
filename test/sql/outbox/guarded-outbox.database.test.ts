import { memoryStores, PorticoApp, topic } from "portico";
import { consume, sqlStores, transaction } from "portico/sql";
import { testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { engineNames, migratedPlace } from "../accounts/databases.ts";

const added = topic<{ title: string }>("guarded-outbox.added", { keep: "1h" });

it.each(engineNames)("writes the events of a transaction of a guarded database on %s", async (engine) => {
  const place = await migratedPlace(engine);
  onTestFinished(() => place.remove());
  const guarded = place.open<any>({ guard: { books: "open" } as any });
  await place.open<any>().schema.createTable("books").addColumn("title", "text").execute();
  const { bus } = sqlStores(guarded);
  const app = new PorticoApp({ logger: false, stores: { ...memoryStores(), bus } });
  app.post("/books/:title", { params: { trx: transaction(guarded) } }, async ({ ctx, trx, path: { title } }) => {
    await trx.insertInto("books").values({ title }).execute();
    await ctx.pubsub.publish(added, { title });
  });
  app.post("/kysely/:title", ({ ctx, path: { title } }) =>
    guarded.transaction().execute(async () => ctx.pubsub.publish(added, { title })),
  );
  onTestFinished(() => app.close());

  const statuses = [
    (await testClient(app).post("/books/Emma")).status,
    (await testClient(app).post("/kysely/Persuasion")).status,
  ];

  expect(statuses).toEqual([204, 204]);
  const rows = await place.open<any>().selectFrom("portico_events").select("payload").orderBy("seq").execute();
  expect(rows.map(({ payload }) => JSON.parse(payload))).toEqual([{ title: "Emma" }, { title: "Persuasion" }]);
});

it.each(engineNames)(
  "stores the position of a consumer in a transaction of a guarded database on %s",
  async (engine) => {
    const place = await migratedPlace(engine);
    onTestFinished(() => place.remove());
    const plain = place.open<any>();
    await plain.schema.createTable("books").addColumn("title", "text").execute();
    const guarded = place.open<any>({ guard: { books: "open" } as any });
    const { bus } = sqlStores(guarded);
    const app = new PorticoApp({ logger: false, stores: { ...memoryStores(), bus } });
    app.consume(
      consume(added, "shelf", { key: ({ title }) => title, transactional: guarded }, async ({ title }, { trx }) => {
        await trx.asSystem("fills the shelf").insertInto("books").values({ title }).execute();
      }),
    );
    onTestFinished(() => app.close());
    await app.inject("/");

    await app.pubsub.publish(added, { title: "Emma" });

    await expect
      .poll(() => plain.selectFrom("books").selectAll().execute(), { timeout: 5_000 })
      .toEqual([{ title: "Emma" }]);
  },
);
