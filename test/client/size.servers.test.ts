import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, it } from "vitest";
import manifest from "../../packages/portico-client/package.json" with { type: "json" };

const entry = new URL("../../packages/portico-client/src/index.ts", import.meta.url).pathname;

it("portico-client has less than 6.5 kB, minified and compressed, and no dependencies", async () => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });

  const bytes = gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length;

  expect(bytes).toBeLessThan(6_656);
  expect(bytes).toBeGreaterThan(2_000);
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
});
