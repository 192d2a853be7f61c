import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import type { PorticoTables } from "portico/sql";
import { logCatcher, testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { newPlace } from "./accounts/databases.ts";

it("a text that PostgreSQL cannot hold is the client's fault, on a route and in a graph, and no error in the log", async () => {
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

  const message = "A text has a NUL character in it, which the database cannot hold";
  expect(route.json()).toMatchObject({ status: 400, code: "bad_request", detail: message });
  expect(graph).toMatchObject({ data: { book: null }, errors: [{ message, extensions: { code: "BAD_REQUEST" } }] });
  expect(surrogate.errors).toBeUndefined();
  expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
});
