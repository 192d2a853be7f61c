import { after, before } from "node:test";
import { sql } from "kysely";
import { env, memoryStores } from "portico";
import { migrate, openDatabase } from "portico/sql";
import { testClient } from "portico/testing";

// Each test file has its own schema. The modules in src/ read its URL when they are first imported.
const schema = `test_${crypto.randomUUID().replaceAll("-", "")}`;
const server = openDatabase(env("DATABASE_URL"));
const url = new URL(env("DATABASE_URL"));
url.searchParams.set("options", `-c search_path=${schema}`);
process.env["DATABASE_URL"] = url.href;

const { api } = await import("../src/app.ts");
const { database } = await import("../src/database.ts");
const { migrations } = await import("../src/migrations/migrations.ts");

export const app = api({ stores: memoryStores(), logger: false });

before(async () => {
  await sql`create schema ${sql.id(schema)}`.execute(server);
  await migrate(database, "up", { migrations });
});

after(async () => {
  await app.close();
  await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(server);
  await server.destroy();
});

/** Registers a user and returns a client that is signed in. */
export async function signUp(username: string) {
  const client = testClient(app).withCookies();
  const password = "correct horse battery";
  await client.post("/account/register", { body: { email: `${username}@example.org`, username, password } });
  await client.post("/account/login", { body: { identifier: username, password } });
  return client;
}
