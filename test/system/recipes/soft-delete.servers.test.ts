import type { PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { type Database, type Migration, migrate, userModel } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { pageProgram } from "../../docs/page-program.ts";
import { newPlace } from "../../sql/accounts/databases.ts";

const { faults, load } = await pageProgram("docs/recipes/soft-delete.md");
const place = await newPlace("PostgreSQL");
vi.stubEnv("DATABASE_URL", place.url);
const { database, migrations, own, visible } = await load<{
  readonly database: Database<any>;
  readonly migrations: readonly Migration[];
  readonly own: ReturnType<typeof rule>;
  readonly visible: ReturnType<typeof rule>;
}>("notes.ts");
const { app } = await load<{ readonly app: PorticoApp }>("app.ts");
const all = database.asSystem("the rows of the test");

beforeAll(async () => {
  await migrate(database, "up", { migrations });
});
beforeEach(async () => {
  await all.deleteFrom("notes").execute();
  const notes = ["n1", "n2"].map((id) => ({ id, owner_id: "ann", title: `Note ${id}` }));
  await all.insertInto("notes").values(notes).execute();
});
afterAll(async () => {
  await app.close();
  await place.remove();
  vi.unstubAllEnvs();
});

const as = (name: string) => testClient(app).as(new SimpleUser(name));
/** Returns what GraphQL and REST show: the note, the list, its total and the bin. */
async function shown(id: string): Promise<unknown> {
  const { data } = await as("ann").graphql(
    `query ($id: ID!) { note(id: $id) { id } notes { totalCount nodes { id } } bin { totalCount nodes { id } } }`,
    { id },
  );
  const { items } = (await as("ann").get("/notes")).json() as { readonly items: readonly { readonly id: string }[] };
  return { ...data, items: items.map((item) => item.id) };
}
async function change(name: string, mutation: "deleteNote" | "restoreNote", id: string): Promise<unknown> {
  const { errors } = await as(name).graphql(`mutation ($id: ID!) { ${mutation}(id: $id) { id } }`, { id });
  return errors?.[0]?.extensions?.["code"] ?? "changed";
}
const listed = (...ids: readonly string[]): object => ({ totalCount: ids.length, nodes: ids.map((id) => ({ id })) });

it("compiles", () => {
  expect(faults).toEqual([]);
});

it("hides a deleted note everywhere but in the bin, until it is restored", async () => {
  expect(await change("ann", "deleteNote", "n1")).toBe("changed");
  expect(await shown("n1")).toEqual({ note: null, notes: listed("n2"), bin: listed("n1"), items: ["n2"] });
  expect(await change("ann", "deleteNote", "n1")).toBe("NOT_FOUND");

  expect(await change("ann", "restoreNote", "n1")).toBe("changed");
  expect(await shown("n1")).toEqual({
    note: { id: "n1" },
    notes: listed("n1", "n2"),
    bin: listed(),
    items: ["n1", "n2"],
  });
});

it("lets only the owner delete and restore", async () => {
  expect(await change("eve", "deleteNote", "n1")).toBe("NOT_FOUND");
  await change("ann", "deleteNote", "n1");
  expect(await change("eve", "restoreNote", "n1")).toBe("NOT_FOUND");
  expect(await shown("n1")).toMatchObject({ notes: listed("n2") });
});

it("frees the title of a deleted note, and restores it only while the title is free", async () => {
  await change("ann", "deleteNote", "n1");
  await all.insertInto("notes").values({ id: "n3", owner_id: "ann", title: "Note n1" }).execute();

  expect(await change("ann", "restoreNote", "n1")).toBe("CONFLICT");
  expect(await shown("n1")).toMatchObject({ notes: listed("n2", "n3"), bin: listed("n1") });
});

it("refuses a deletion if the guard hides deleted rows", async () => {
  const hiding = place.open<any>({ guard: { notes: { read: visible, write: own } } }).as(new SimpleUser("ann"));
  const update = hiding.updateTable("notes").set({ deleted_at: new Date() }).where("id", "=", "n1");

  await expect(update.execute()).rejects.toMatchObject({ code: "FORBIDDEN" });
});

it("deletes an account with its roles, also in a guarded database", async () => {
  const system = database.asSystem("deletes an account");
  const User = userModel(database);
  await User.objects.defineRole("editor", ["notes:edit"]);
  const ann = await User.objects.createUser({ email: "ann@x.example", username: "ann", password: "correct horse" });
  await User.objects.grant(ann, { roles: ["editor"], permissions: ["notes:read"] });
  expect(
    await database
      .as(ann)
      .deleteFrom("users")
      .execute()
      .catch((error: unknown) => error),
  ).toMatchObject({
    code: "STATEMENT_UNGUARDED",
  });

  await User.objects.disable(ann);
  await system.deleteFrom("users").where("id", "=", ann.identity).execute();

  expect(await User.objects.get({ id: ann.identity })).toBeNull();
  expect(await system.selectFrom("portico_user_roles").selectAll().execute()).toEqual([]);
  expect(await system.selectFrom("portico_user_permissions").selectAll().execute()).toEqual([]);
});
