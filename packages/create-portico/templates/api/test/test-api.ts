import assert from "node:assert/strict";
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

// The log shows the reason of a 500.
export const app = api({ stores: memoryStores(), logger: { level: "error" } });

before(async () => {
  await sql`create schema ${sql.id(schema)}`.execute(server);
  await migrate(database, "up", { migrations });
});

after(async () => {
  await app.close();
  await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(server);
  await server.destroy();
});

/** Registers a user and returns a client that is signed in. Fails with the response if that is not possible. */
export async function signUp(username: string) {
  const client = testClient(app).withCookies();
  const password = "correct horse battery";
  const user = { email: `${username}@example.org`, username, password };
  const registered = await client.post("/account/register", { body: user });
  assert.equal(registered.status, 202, registered.text());
  const signedIn = await client.post("/account/login", { body: { identifier: username, password } });
  assert.equal(signedIn.status, 200, signedIn.text());
  return client;
}
