// Runs in an empty project that has nothing but the packed package, on plain Node: no loader, no TypeScript.
import assert from "node:assert/strict";
import { PorticoApp } from "portico";

const app = new PorticoApp();
app.get("/", () => ({ hello: "world" }));
const { port } = await app.listen({ port: 0 });

const answer = await fetch(`http://127.0.0.1:${port}/`);

assert.equal(answer.status, 200);
assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
assert.deepEqual(await answer.json(), { hello: "world" });
assert.match(await (await fetch(`http://127.0.0.1:${port}/docs`)).text(), /scalar\//);
await app.close();
console.log(`smoke test passed on Node ${process.version}`);
