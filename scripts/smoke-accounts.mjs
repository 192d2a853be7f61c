// Runs in a project that has the packed package, kysely and graphql, on plain Node: the program `portico`, and an application
// on the tables that it makes.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { PorticoApp } from "portico";
import { authentication, useAuth } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { openDatabase, sqlStores, userModel } from "portico/sql";

const file = "smoke.db";
const url = `sqlite:${file}`;
const password = "correct horse battery staple";
for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });

/** What the program prints. */
function portico(...args) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["node_modules/portico/dist/cli/portico.js", ...args, "--database", url],
    { encoding: "utf8", input: `${password}\n` },
  );
  assert.equal(status, 0, `portico ${args.join(" ")}: ${stderr}`);
  return stdout;
}

portico("migrate", "up");
assert.match(portico("migrate", "status"), /\d{4}/);
portico("user", "create", "--email", "ann@example.org", "--username", "ann", "--permission", "read:books");
const key = portico("keys", "create", "ann", "--name", "smoke", "--stores", "database").match(/pk_\w+/)?.[0] ?? "";

const database = openDatabase(url);
const app = new PorticoApp({ logger: false, stores: sqlStores(database) });
app.use(authentication({ userModel: userModel(database), secret: "s".repeat(20) + Math.random(), audience: "smoke" }));
app.get("/books", { auth: useAuth({ permissions: ["read:books"] }) }, ({ user }) => user.displayName);
new Graph(schema({ query: { me: field(t.string, { auth: true })(({ ctx }) => ctx.user.displayName) } })).mount(app);
const { url: address } = await app.listen({ port: 0 });
const json = { "content-type": "application/json" };
const post = (path, body, headers = {}) =>
  fetch(address + path, { method: "POST", body: JSON.stringify(body), headers: { ...json, ...headers } });

const login = await post("/account/login", { identifier: "ann", password });
assert.equal(login.status, 200);
const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
assert.equal(await (await fetch(`${address}/books`, { headers: { cookie } })).json(), "ann");
assert.equal((await fetch(`${address}/books`, { headers: { "x-api-key": key } })).status, 200);
const { data } = await (await post("/graphql", { query: "{ me }" }, { cookie })).json();
assert.deepEqual(data, { me: "ann" });
assert.match(portico("user", "sessions", "ann", "--stores", "database"), /\w/);

const id = key.split("_")[1] ?? "";
portico("keys", "revoke", "ann", id, "--stores", "database");
assert.equal((await fetch(`${address}/books`, { headers: { "x-api-key": key } })).status, 401);
portico("user", "disable", "ann");
assert.equal((await fetch(`${address}/books`, { headers: { cookie } })).status, 401);
await app.close();
await database.destroy();
portico("migrate", "down", "--all", "--yes");
console.log(`the program and an application on its tables work on Node ${process.version}`);
