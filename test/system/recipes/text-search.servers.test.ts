import { sql } from "kysely";
import { isEqual, type PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { type Database, type Migration, migrate } from "portico/sql";
import { expectPlans, type TestClient, testClient, watchStatements } from "portico/testing";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { pageProgram } from "../../docs/page-program.ts";
import { newPlace } from "../../sql/accounts/databases.ts";

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly pagination: { readonly total_items: number; readonly links: { readonly next?: string } };
}

const { faults, load } = await pageProgram("docs/recipes/text-search.md");
const place = await newPlace("PostgreSQL");
vi.stubEnv("DATABASE_URL", place.url);
const { database, migrations } = await load<{
  readonly database: Database<any>;
  readonly migrations: readonly Migration[];
}>("notes.ts");
const { app } = await load<{ readonly app: PorticoApp }>("app.ts");

const NOTES: readonly (readonly [id: string, owner: string, title: string, body: string])[] = [
  ["1", "ann", "Running in the rain", "wet shoes"],
  ["2", "ann", "Shoes", "the ones I run in, a draft"],
  ["3", "ann", "Diary", "the shoes of a friend, who runs"],
  ["4", "bob", "Run", "bob's shoes"],
];

beforeAll(async () => {
  await migrate(database, "up", { users: false, migrations });
  for (const [id, owner_id, title, body] of NOTES) {
    const added_at = new Date(Date.UTC(2026, 0, Number(id)));
    await database.insertInto("notes").values({ id, owner_id, title, body, added_at }).execute();
  }
});
afterAll(async () => {
  await app.close();
  await place.remove();
  vi.unstubAllEnvs();
});

const as = (name: string): TestClient => testClient(app).as(new SimpleUser(name));
const page = async (search: string, path = "/notes", page_size = 10): Promise<Page> =>
  (await as("ann").get(path, { query: { search, page_size } })).json() as Page;
const idsOf = ({ items }: Page): readonly string[] => items.map(({ id }) => id);

it("compiles", () => {
  expect(faults).toEqual([]);
});

it("finds forms of a word, phrases and exclusions, in any text that users type", async () => {
  expect(idsOf(await page("run"))).toEqual(["3", "2", "1"]);
  expect(idsOf(await page('"wet shoes"'))).toEqual(["1"]);
  expect(idsOf(await page("run -draft"))).toEqual(["3", "1"]);
  expect(idsOf(await page("it's & ((("))).toEqual([]);
});

it("pages through the matches that the caller may see, and counts only those", async () => {
  const first = await page("shoes", "/notes", 2);
  const second = (await as("ann").get(first.pagination.links.next ?? "")).json() as Page;

  expect([idsOf(first), idsOf(second), first.pagination.total_items]).toEqual([["3", "2"], ["1"], 3]);
  const { data } = await as("bob").graphql('{ notes(search: "shoes") { totalCount nodes { id } } }');
  expect(data).toEqual({ notes: { totalCount: 1, nodes: [{ id: "4" }] } });
});

it("binds a cursor to its search", async () => {
  const { pagination } = await page("shoes", "/notes", 2);
  const next = new URL(pagination.links.next ?? "");
  next.searchParams.set("search", "run");

  const response = await as("ann").get(next.href);

  expect([response.status, (response.json() as { code: string }).code]).toEqual([400, "cursor_mismatch"]);
});

it("returns the best matches first, with page numbers", async () => {
  expect(idsOf(await page("shoes", "/notes/best"))[0]).toBe("2");
  expect(idsOf(await page("run", "/notes/best"))[0]).toBe("1");
  expect((await page("run", "/notes/best")).pagination.total_items).toBe(3);
});

it("has the index of the list, and the search can use its own", async () => {
  using watch = watchStatements(database);
  await page("shoes");
  await expectPlans(watch);

  const plan = await database.connection().execute(async (connection) => {
    await sql`set enable_seqscan = off`.execute(connection);
    const search = sql`words @@ websearch_to_tsquery('english', 'shoes')`;
    const { rows } = await sql<object>`explain select id from notes where ${search}`.execute(connection);
    await sql`reset enable_seqscan`.execute(connection);
    return JSON.stringify(rows);
  });
  expect(plan).toContain("notes_words");
});

it("works in a guarded database without naming a rule", async () => {
  const own = rule<{ owner_id: string }>({
    name: "note.own",
    allows: (user, note) => note.owner_id === user.identity,
    where: (user) => isEqual("owner_id", user.identity),
  });
  const guarded = place.open<any>({ guard: { notes: { read: own, write: own } } });
  const search = sql<boolean>`words @@ websearch_to_tsquery('english', ${"shoes"})`;

  const found = guarded.as(new SimpleUser("bob")).selectFrom("notes").select("id").where(search);

  expect(await found.execute()).toEqual([{ id: "4" }]);
});
