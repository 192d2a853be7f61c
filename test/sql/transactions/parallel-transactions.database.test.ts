import { setTimeout as sleep } from "node:timers/promises";
import { type HttpContext, memoryStores, PorticoApp, topic } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import type { Database } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newPlace, type Place } from "../accounts/databases.ts";

const told = topic<string>("told");

let place: Place;
let database: Database;
const end = new AbortController();
const heard: string[] = [];
const stores = memoryStores();
beforeAll(async () => {
  place = await newPlace("PostgreSQL");
  database = place.open();
  void (async () => {
    for await (const text of stores.bus.subscribe(told, { signal: end.signal })) heard.push(text);
  })();
});
beforeEach(() => void (heard.length = 0));
afterAll(async () => {
  end.abort();
  await place?.remove();
});

/** A transaction that publishes its name while others are open, and then ends with the requested outcome. */
async function tell(ctx: Pick<HttpContext, "pubsub">, name: string, outcome: "success" | "failure"): Promise<boolean> {
  const trx = await database.begin();
  await sleep(30);
  await ctx.pubsub.publish(told, name);
  await sleep(30);
  await trx.end(outcome);
  return true;
}

function build(): PorticoApp {
  const app = new PorticoApp({ logger: false, stores });
  app.post("/both", async ({ ctx, query }) => {
    const [first, second] = [query["first"], query["second"]] as ("success" | "failure")[];
    await Promise.all([tell(ctx, "first", first ?? "success"), tell(ctx, "second", second ?? "success")]);
  });
  app.post("/inside", async ({ ctx }) => {
    const outer = await database.begin();
    await tell(ctx, "inner", "success");
    await ctx.pubsub.publish(told, "outer");
    await outer.end("failure");
    await ctx.pubsub.publish(told, "after");
  });
  app.post("/kysely", async ({ ctx, query }) => {
    const heardInside: string[] = [];
    const work = database.transaction().execute(async () => {
      await ctx.pubsub.publish(told, "inside");
      await sleep(20);
      heardInside.push(...heard);
      if (query["fails"] !== undefined) throw new Error("no");
    });
    await work.catch(() => {});
    await ctx.pubsub.publish(told, "after");
    return heardInside;
  });
  const telling = field(t.boolean, { params: { name: t.string, fails: t.boolean } })(({ ctx, name, fails }) =>
    tell(ctx, name, fails ? "failure" : "success"),
  );
  new Graph(schema({ query: { telling } })).mount(app);
  return app;
}

describe("two transactions of one request", () => {
  it.each([
    ["success", "failure", ["first"]],
    ["failure", "success", ["second"]],
    ["failure", "failure", []],
  ] as const)(
    "that end with %s and %s publish only the events of those that commit",
    async (first, second, expected) => {
      const answer = await testClient(build()).post(`/both?first=${first}&second=${second}`);
      await sleep(20);

      expect(answer.status).toBe(204);
      expect(heard).toEqual(expected);
    },
  );

  it("publish the inner one's events when it commits, and hold the outer one's", async () => {
    await testClient(build()).post("/inside");
    await sleep(20);

    expect(heard).toEqual(["inner", "after"]);
  });
});

it("keeps the events of parallel fields apart", async () => {
  const query = `{ a: telling(name: "kept", fails: false) b: telling(name: "undone", fails: true) }`;

  const answer = await testClient(build()).post("/graphql", { body: { query } });
  await sleep(20);

  expect(answer.json()).toMatchObject({ data: { a: true, b: true } });
  expect(heard).toEqual(["kept"]);
});

describe("Kysely's own transaction()", () => {
  it.each([
    ["/kysely", ["inside", "after"]],
    ["/kysely?fails", ["after"]],
  ])("also holds events: %s", async (path, expected) => {
    const answer = await testClient(build()).post(path);
    await sleep(20);

    expect(answer.json()).toEqual([]);
    expect(heard).toEqual(expected);
  });
});

it("forgets transactions that have ended, however many one request starts", async () => {
  const app = new PorticoApp({ logger: false, stores });
  app.post("/many", async ({ ctx }) => {
    for (let count = 0; count < 50; count++) await (await database.begin()).end("success");
    await ctx.pubsub.publish(told, "at once");
  });

  await testClient(app).post("/many");
  await sleep(20);

  expect(heard).toEqual(["at once"]);
});

it("has no current transaction after both have ended, in either order", async () => {
  const app = new PorticoApp({ logger: false, stores });
  app.post("/overlapping", async () => {
    const [first, second] = [await database.begin(), await database.begin()];
    await first.end("success");
    const meanwhile = database.current() === second;
    await second.end("success");
    return { meanwhile, after: database.current() === database };
  });

  expect((await testClient(app).post("/overlapping")).json()).toEqual({ meanwhile: true, after: true });
});
