import { PorticoApp, type Router } from "portico";
import { SimpleUser } from "portico/auth";
import { type Database, type Migration, migrate } from "portico/sql";
import { type TestResponse, testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { pageProgram } from "../../docs/page-program.ts";
import { newPlace } from "../../sql/accounts/databases.ts";

const { faults, load } = await pageProgram("docs/recipes/optimistic-locking.md");
const place = await newPlace("PostgreSQL");
vi.stubEnv("DATABASE_URL", place.url);
const { database, migrations } = await load<{
  readonly database: Database<any>;
  readonly migrations: readonly Migration[];
}>("documents.ts");
const { app } = await load<{ readonly app: PorticoApp }>("app.ts");
const { documents } = await load<{ readonly documents: Router }>("etags.ts");
const all = database.asSystem("the rows of the test");

beforeAll(async () => {
  await migrate(database, "up", { users: false, migrations });
});
beforeEach(async () => {
  await all.deleteFrom("documents").execute();
  await all.insertInto("documents").values({ id: "d1", owner_id: "ann", reviewer_id: "bob", text: "first" }).execute();
});
afterAll(async () => {
  await app.close();
  await place.remove();
  vi.unstubAllEnvs();
});

const as = (name: string) => testClient(app).as(new SimpleUser(name));
const put = async (name: string, version: number, id = "d1"): Promise<TestResponse> =>
  as(name).put(`/documents/${id}`, { body: { version, text: `by ${name}` } });
const problemOf = (response: TestResponse): unknown => {
  const { code, version } = response.json() as { readonly code?: string; readonly version?: number };
  return { status: response.status, code, version };
};

it("compiles", () => {
  expect(faults).toEqual([]);
});

it("saves one of two changes to the same version", async () => {
  const responses = await Promise.all([put("ann", 1), put("ann", 1), put("ann", 1)]);

  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  expect(await all.selectFrom("documents").select(["text", "version"]).execute()).toEqual([
    { text: "by ann", version: 2 },
  ]);
});

it("names the current version to a client that is too late, over REST and GraphQL", async () => {
  await put("ann", 1);

  expect(problemOf(await put("ann", 1))).toEqual({ status: 409, code: "document_outdated", version: 2 });
  const { errors } = await as("ann").graphql(
    'mutation { saveDocument(id: "d1", version: 1, text: "late") { version } }',
  );
  expect(errors?.[0]?.extensions).toMatchObject({ code: "DOCUMENT_OUTDATED", version: 2 });
  const saved = await as("ann").graphql(
    'mutation { saveDocument(id: "d1", version: 2, text: "new") { text version } }',
  );
  expect(saved.data).toEqual({ saveDocument: { text: "new", version: 3 } });
});

it("refuses callers as the table of the page says", async () => {
  await put("ann", 1);
  const outdated = { status: 409, code: "document_outdated", version: 2 };

  expect(problemOf(await put("bob", 2))).toMatchObject({ status: 403, code: "forbidden" });
  expect(problemOf(await put("bob", 1))).toEqual(outdated);
  expect((await put("eve", 2)).status).toBe(404);
  expect((await put("eve", 1)).status).toBe(404);
  expect((await put("ann", 2, "d9")).status).toBe(404);
  expect(await all.selectFrom("documents").select("text").execute()).toEqual([{ text: "by ann" }]);
});

it("takes the version from If-Match", async () => {
  const client = testClient(new PorticoApp({ logger: false }).mount("/documents", documents)).as(new SimpleUser("ann"));
  const { etag = "" } = (await client.get("/documents/d1")).headers;
  const save = async (headers: Readonly<Record<string, string>>): Promise<TestResponse> =>
    client.put("/documents/d1", { body: { text: "tagged" }, headers });

  expect(etag).toBe('"1"');
  expect((await save({})).status).toBe(428);
  expect((await save({ "if-match": etag })).headers["etag"]).toBe('"2"');
  expect(problemOf(await save({ "if-match": etag }))).toMatchObject({ status: 412, code: "document_outdated" });
});
