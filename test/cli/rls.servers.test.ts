import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newPlace, type Place } from "../sql/accounts/databases.ts";
import { type Ran, runPortico } from "./run-portico.ts";

const config = resolve(import.meta.dirname, "fixtures/rls.config.ts");
// In the repository, so that the migration finds kysely.
const cwd = resolve(import.meta.dirname, `../../.cache/rls-${randomUUID()}`);
let place: Place;
const run = (words: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  runPortico([...words.split(" "), "--config", config], { cwd, env: { RLS_URL: place.url, ...env } });

beforeAll(async () => {
  await mkdir(cwd, { recursive: true });
  place = await newPlace("PostgreSQL");
  const owner = place.open<any>({ poolSize: 2 });
  for (const text of ["members (person text, org integer)", "projects (id integer, org integer)"])
    await sql.raw(`create table ${text}`).execute(owner);
});
afterAll(async () => {
  await place.remove();
  await rm(cwd, { recursive: true });
});

it("prints the policies", async () => {
  const { code, out, err } = await run("rls --force");

  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^create policy portico_read on ".+"\."projects" for select using \(.+\);$/m);
  expect(out).toMatch(/^alter table ".+"\."members" force row level security;$/m);
});

it("writes a migration once, which applies and reverts them", async () => {
  const policies = async (): Promise<number> => {
    const found = sql`select 1 from pg_policies where schemaname = current_schema()`;
    return (await found.execute(place.open({ poolSize: 2 }))).rows.length;
  };
  const written = await run("rls --write");
  const again = await run("rls --write");
  const [file = ""] = await readdir(cwd);

  expect(written.out).toMatch(/^wrote row-level-security-\w{12}\.ts: add it to the end of your migrations$/m);
  expect(again.out).toBe(`${file} is up to date\n`);
  expect((await run(`rls --force --write ${file}`)).err).toContain(`${file} has the policies of other rules`);
  expect(await readFile(join(cwd, file), "utf8")).toContain("export const migrations = [rowLevelSecurity]");
  expect((await run(`migrate up --migrations ${file}`)).out).toContain("applied row_level_security_");
  expect(await policies()).toBe(8);
  expect((await run("rls --write")).out).toContain("is up to date");
  expect((await run(`migrate down --yes --migrations ${file}`)).out).toContain("reverted row_level_security_");
  expect(await policies()).toBe(0);
});

it("says what it needs", async () => {
  const { code, err } = await run("rls", { RLS_POLICIES: "none" });

  expect(code).toBe(1);
  expect(err).toContain("openDatabase.policies must be true, or a list of sample users");
});
