// Runs in an empty project that has nothing but the packed package, on plain Node: no loader, no TypeScript.
import assert from "node:assert/strict";
import { PorticoApp } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { PageNumberPagination } from "portico/pagination";

const app = new PorticoApp();
app.get("/", () => ({ hello: "world" }));
app.get("/gated", { auth: useAuth() }, () => "never");
app.get("/users", ({ response }) =>
  response.paginate([new SimpleUser("ann")], { strategy: new PageNumberPagination() }),
);
const { port } = await app.listen({ port: 0 });

const answer = await fetch(`http://127.0.0.1:${port}/`);

assert.equal(answer.status, 200);
assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
assert.deepEqual(await answer.json(), { hello: "world" });
assert.equal((await fetch(`http://127.0.0.1:${port}/gated`)).status, 401);
assert.equal((await (await fetch(`http://127.0.0.1:${port}/users`)).json()).pagination.total_items, 1);
assert.match(await (await fetch(`http://127.0.0.1:${port}/docs`)).text(), /scalar\//);
await app.close();
console.log(`smoke test passed on Node ${process.version}`);
