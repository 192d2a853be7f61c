import { randomBytes } from "node:crypto";
import { PorticoApp, rateLimit } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { type PorticoTables, sqlStores } from "portico/sql";
import { logCatcher, testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { migratedPlace, newPlace } from "./accounts/databases.ts";

it("a text that PostgreSQL cannot store is a client error, in a route and in GraphQL, and is not logged", async () => {
  const place = await newPlace("PostgreSQL");
  onTestFinished(() => place.remove());
  const database = place.open<PorticoTables & { books: { id: string } }>();
  await database.schema.createTable("books").addColumn("id", "text").execute();
  const find = async (id: string): Promise<string | undefined> =>
    (await database.selectFrom("books").select("id").where("id", "=", id).executeTakeFirst())?.id;
  const log = logCatcher();
  const app = new PorticoApp({ logger: log }).get("/books/:id", ({ path }) => find(path.id));
  const book = field(t.nullable(t.string), { params: { id: t.id } })(({ id }) => find(id));
  new Graph(schema({ query: { book } })).mount(app);

  const route = await testClient(app).get("/books/a%00b");
  const graph = await testClient(app).graphql("query ($id: ID!) { book(id: $id) }", { id: "a\0b" });
  const surrogate = await testClient(app).graphql("query ($id: ID!) { book(id: $id) }", { id: "\ud800" });

  const message = "A text contains a NUL character, which the database cannot store";
  expect(route.json()).toMatchObject({ status: 400, code: "bad_request", detail: message });
  expect(graph).toMatchObject({ data: { book: null }, errors: [{ message, extensions: { code: "BAD_REQUEST" } }] });
  expect(surrogate.errors).toBeUndefined();
  expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
});

it.each([
  ["a NUL", "\0"],
  ["half of a character", "\ud800"],
  ["a long text that no compression makes short", randomBytes(6_000).toString("hex")],
])("%s in the key of a rate limit does not affect other counts", async (_what, hostile) => {
  const place = await migratedPlace("PostgreSQL");
  onTestFinished(() => place.remove());
  const log = logCatcher();
  const app = (): PorticoApp => {
    const limit = rateLimit({ perMinute: 2, name: "posts", key: async ({ request }) => String(await request.json()) });
    return new PorticoApp({ logger: log, stores: sqlStores(place.open()) }).post(
      "/",
      { middleware: [limit] },
      () => "",
    );
  };
  const [one, other] = [testClient(app()), testClient(app())];
  const statuses = async (key: string): Promise<readonly number[]> => [
    (await one.post("/", { body: JSON.stringify(key), headers: { "content-type": "application/json" } })).status,
    (await other.post("/", { body: JSON.stringify(key), headers: { "content-type": "application/json" } })).status,
  ];

  expect(await statuses("ann")).toEqual([200, 200]);
  expect(await statuses(hostile)).toEqual([200, 200]);
  expect(await statuses("ann")).toEqual([429, 429]);
  expect(await statuses(hostile)).toEqual([429, 429]);
  expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
});
