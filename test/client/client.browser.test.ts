import { build } from "esbuild";
import { createClient } from "portico-client";
import { beforeAll, describe, expect, it } from "vitest";
import { isBrowserMissing, type Visit, visit } from "../browser.ts";
import { books } from "./client-app.ts";
import { clientServer, signedIn } from "./client-server.ts";
import { type ServerProcess, serverProcess } from "./server-process.ts";

const html = '<!doctype html><link rel="icon" href="data:,"><script src="/client.js"></script>';
let script: string;
beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [new URL("../../packages/portico-client/src/index.ts", import.meta.url).pathname],
    bundle: true,
    format: "iife",
    globalName: "portico",
    write: false,
  });
  script = outputFiles[0]?.text ?? "";
});

/** Opens the page of a server, on which `portico` is the client library, and begins to run an async function there. */
async function run(url: string, code: string): Promise<Visit["page"]> {
  const { page } = await visit(url);
  await page.goto(url);
  await page.evaluate(
    `globalThis.seen = []; void (async () => { ${code} })().catch((error) => seen.push(String(error)));`,
  );
  return page;
}

const killable = (port = 0): Promise<ServerProcess> => serverProcess(port, { HTML: html, SCRIPT: script });
const seenIn = (page: Visit["page"]): Promise<unknown[]> => page.evaluate("seen");

// Servers and browsers may start slowly on a busy machine.
describe.skipIf(isBrowserMissing)("in Chromium", { timeout: 240_000 }, () => {
  it.each(["sse", "websocket"])(
    "a subscription over %s reports a gap after the server was killed, and goes on",
    async (transport) => {
      const first = await killable();
      const page = await run(
        first.url,
        `const client = portico.createClient({ url: location.origin, transport: "${transport}" });
       for await (const { data, gap } of client.subscribe("subscription { ticks }")) seen.push(gap ? "gap" : data.ticks);`,
      );
      await expect.poll(() => first.tick(1).then(() => seenIn(page))).toContain(1);

      await first.kill();
      const second = await killable(first.port);
      await expect.poll(() => seenIn(page), { timeout: 120_000 }).toContain("gap");
      await expect.poll(() => second.tick(2).then(() => seenIn(page))).toContain(2);

      expect([...new Set(await seenIn(page))]).toEqual([1, "gap", 2]);
    },
  );

  it("a walk waits for a server that was killed, and loses and repeats no item", async () => {
    const first = await killable();
    const page = await run(
      first.url,
      `const client = portico.createClient({ url: location.origin });
       for await (const { id } of client.walk("/books", { query: { page_size: 10 }, retries: 50 })) {
         seen.push(id);
         if (seen.length === 35) await new Promise((go) => { globalThis.go = go; });
       }`,
    );
    await expect.poll(() => seenIn(page)).toHaveLength(35);

    await first.kill();
    await page.evaluate("go()");
    await killable(first.port);

    await expect.poll(() => seenIn(page), { timeout: 120_000 }).toHaveLength(books.length);
    expect(await seenIn(page)).toEqual(books.map(({ id }) => id));
  });

  it("two tabs with the same stored tokens send one refresh for 40 requests that got 401", async () => {
    const { url, seen } = await clientServer({ html, script });
    const { tokens } = await signedIn(url);
    const stored = JSON.stringify({ ...(await tokens.get()), accessToken: "not.a.token" });
    const { page } = await visit(url);
    await page.goto(url);
    await page.evaluate(`localStorage.setItem("portico-tokens", ${JSON.stringify(stored)})`);
    const [other] = await Promise.all([page.waitForEvent("popup"), page.evaluate("void open('/')")]);
    await other.waitForLoadState();
    const code = `(async () => {
      const client = portico.createClient({ url: location.origin, tokens: portico.storedTokens(localStorage) });
      const all = await Promise.all(Array.from({ length: 20 }, () => client.get("/secret")));
      return all.length;
    })()`;

    const results = await Promise.all([page.evaluate(code), other.evaluate(code)]);

    expect(results).toEqual([20, 20]);
    expect(seen.filter((line) => line === "POST /account/refresh")).toHaveLength(1);
  });

  it("a session signs in and out with its cookie, for REST, GraphQL and a subscription", async () => {
    const server = await clientServer({ html, script });
    const page = await run(
      server.url,
      `const client = portico.createClient({ url: location.origin });
       await client.signIn({ identifier: "ann", password: "correct horse battery" });
       seen.push(await client.get("/secret"), await client.graphql("{ secret }"));
       for await (const { data } of client.subscribe("subscription { secretTicks }")) { seen.push(data); break; }
       await client.signOut();
       await client.get("/secret");`,
    );
    await expect.poll(() => seenIn(page)).toHaveLength(2);
    const post = (): Promise<unknown> => createClient({ url: server.url }).post("/tick", { body: { value: 7 } });
    await expect.poll(() => post().then(() => seenIn(page))).toHaveLength(4);

    expect(await seenIn(page)).toEqual([
      { name: "ann" },
      { secret: "ann" },
      { secretTicks: 7 },
      "PorticoClientError: Authentication required",
    ]);
  });
});
