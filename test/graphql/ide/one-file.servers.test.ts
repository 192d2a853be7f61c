import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, it, onTestFinished } from "vitest";

const root = resolve(import.meta.dirname, "../../..");

const APP = `
import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
const answer = async (ide) => {
  const app = new PorticoApp({ logger: false });
  new Graph(schema({ query: { hello: field(t.string)(() => "world") } }), { ide }).mount(app);
  const { status, body } = await app.inject({ url: "/graphql", headers: { accept: "text/html" } });
  return [status, body.toString()];
};
console.log(JSON.stringify({ bundled: await answer(true), cdn: await answer({ assets: "cdn" }) }));
`;

it("in an application that was bundled into one file, the page says how to enable the explorer", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portico-one-file-"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const outfile = join(folder, "app.mjs");
  await build({
    stdin: { contents: APP, resolveDir: root },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    external: [
      "fastify",
      "light-my-request",
      "@fastify/proxy-addr",
      "graphql",
      "ws",
      "find-my-way",
      "@fastify/busboy",
      "rate-limiter-flexible",
      "jose",
    ],
    alias: { portico: join(root, "src/index.ts"), "portico/graphql": join(root, "src/graphql/index.ts") },
  });

  const { stdout } = await promisify(execFile)(process.execPath, [outfile]);

  const { bundled, cdn } = JSON.parse(stdout) as Record<"bundled" | "cdn", [number, string]>;
  expect(bundled[0]).toBe(200);
  expect(bundled[1]).toContain("The explorer is not part of this build");
  expect(bundled[1]).toContain('<code>ide: { assets: "cdn" }</code>');
  expect(cdn[1]).toContain("https://cdn.jsdelivr.net/npm/graphiql@");
});
