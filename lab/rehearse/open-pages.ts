import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { openGraphiql } from "../newcomer/open-graphiql.ts";
import { type Environment, Started } from "../newcomer/shell.ts";

const APPLICATION = `import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";

const app = new PorticoApp({ title: "Rehearsal", logger: false, openapi: true });
app.get("/hello", { summary: "Say hello" }, () => "hello");
new Graph(schema({ query: { hello: field(t.string)(() => "hello") } }), { ide: true }).mount(app);
console.log((await app.listen({ port: 0 })).url);
`;

/** Opens GraphiQL and the API reference of the installed package in a browser that reaches only this machine. */
export async function openPages(folder: string, env: Environment, browser: Browser): Promise<void> {
  writeFileSync(join(folder, "pages.mjs"), APPLICATION);
  const server = new Started(folder, env, process.execPath, ["pages.mjs"]);
  const context = await browser.newContext();
  try {
    const url = await server.until(/(http:\/\/127\.0\.0\.1:\d+)$/m);
    const html = await (await fetch(`${url}/graphql`, { headers: { accept: "text/html" } })).text();
    assert.ok(html.includes("startExplorer"), "portico: GraphiQL is not in the package");
    const elsewhere: string[] = [];
    await context.route("**", (route) => {
      const address = route.request().url();
      if (address.startsWith(`${url}/`) || /^(?:data|blob):/.test(address)) return route.continue();
      elsewhere.push(address);
      return route.abort();
    });
    await openGraphiql(context, url);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(`${url}/docs`);
    await page.getByRole("heading", { name: "Say hello" }).waitFor();
    assert.deepEqual(elsewhere, [], "the pages request files from other servers");
  } finally {
    await context.close();
    await server.end();
  }
}
