import { PorticoApp } from "portico";
import { field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { openDatabase } from "portico/sql";
import { logCatcher, testClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { range } from "../pagination/ways.ts";

const STATEMENT = 'select ? as "number"';
const ADVICE =
  "has sent the same statement more than 10 times in one request: read all rows with one statement, with a loader, or with `parent` on the connection";

/** An application whose route and fields send the same statement as often as they are asked to. */
function open() {
  const database = openDatabase("sqlite::memory:");
  const log = logCatcher();
  const read = (number: number) => database.selectNoFrom((eb) => eb.val(number).as("number")).executeTakeFirstOrThrow();
  const Author: ObjectType<{ readonly id: number }> = object("Author", {
    id: field(t.int)(async ({ parent }: { parent: { id: number } }) => (await read(parent.id)).number),
  });
  const authors = field(t.list(Author), { params: { count: t.int } })(({ count }) =>
    range(1, count).map((id) => ({ id })),
  );
  const app = new PorticoApp({ logger: log });
  app.onClose(() => database.destroy());
  app.get("/repeat/:count", async ({ path }) => {
    for (const number of range(1, Number(path.count))) await read(number);
    return "done";
  });
  new Graph(schema({ query: { authors } })).mount(app);
  return {
    client: testClient(app),
    warnings: () => log.lines.filter(({ level, sql }) => level === "warn" && sql !== undefined),
  };
}

describe("a statement that is sent more than ten times", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("is logged once for a request, with the route and its text", async () => {
    const { client, warnings } = open();
    await client.get("/repeat/30");

    const place = "GET /repeat/:count";
    expect(warnings()).toMatchObject([{ msg: `${place} ${ADVICE}`, place, sql: STATEMENT }]);
    await client.get("/repeat/11");
    expect(warnings()).toHaveLength(2);
  });

  it("is logged with the field of an operation", async () => {
    const { client, warnings } = open();
    await client.graphql("{ authors(count: 11) { id } }");

    expect(warnings()).toMatchObject([{ msg: `Author.id ${ADVICE}`, place: "Author.id", sql: STATEMENT }]);
  });

  it("is not logged for ten times in each of several requests", async () => {
    const { client, warnings } = open();
    await client.get("/repeat/10");
    await client.get("/repeat/10");
    await client.graphql("{ authors(count: 10) { id } }");

    expect(warnings()).toEqual([]);
  });

  it("is not logged in production", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const { client, warnings } = open();
    await client.get("/repeat/30");

    expect(warnings()).toEqual([]);
  });
});
