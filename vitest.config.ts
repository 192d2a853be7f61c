import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import type { InlineConfig } from "vitest/node";
import { LongFilesFirst } from "./scripts/long-files-first.ts";

const source = (file: string): string => fileURLToPath(new URL(`./src/${file}`, import.meta.url));

// The longer name first: an alias also matches what begins with it.
const doors = [
  { find: "portico/auth", replacement: source("auth/index.ts") },
  { find: "portico/drizzle", replacement: source("drizzle/index.ts") },
  { find: "portico/graphql", replacement: source("graphql/index.ts") },
  { find: "portico/nats", replacement: source("nats/index.ts") },
  { find: "portico/pagination", replacement: source("pagination/index.ts") },
  { find: "portico/redis", replacement: source("redis/index.ts") },
  { find: "portico/sql", replacement: source("sql/index.ts") },
  { find: "portico/testing", replacement: source("testing/index.ts") },
  { find: "portico/types/graphql", replacement: source("types/graphql/index.ts") },
  { find: "portico/types/sql", replacement: source("types/sql/index.ts") },
  { find: "portico/types", replacement: source("types/index.ts") },
  { find: "portico-client", replacement: source("../packages/portico-client/src/index.ts") },
  { find: "portico", replacement: source("index.ts") },
];

// Both majors of the peer are installed; PORTICO_GRAPHQL=17 runs the same tests on the newer one.
// Of graphql 16 Vite would take another build than Node does, and libraries that Node loads would bring a second copy.
const engine =
  process.env["PORTICO_GRAPHQL"] === "17"
    ? [{ find: /^graphql(?=\/|$)/, replacement: "graphql17" }]
    : [{ find: /^graphql$/, replacement: "graphql/index.js" }];

// What the tests import as fast-check, with a seed.
const fastCheck = {
  find: /^fast-check$/,
  replacement: fileURLToPath(new URL("./test/seeded-fast-check.ts", import.meta.url)),
};

// Tests that measure time, CPU or memory. Other processes use the machine as well, so a test may try four times.
export const measured: readonly string[] = [
  "test/auth/accounts/attacks/{flood,timing}.test.ts",
  "test/auth/backends/jwt-memory.test.ts",
  "test/auth/passwords/failure-times.test.ts",
  "test/cli/startup.test.ts",
  "test/graphql/endpoint/{document-load,hostile,padded-documents,upload-load}.test.ts",
  "test/graphql/limits/{document-cache,hostile}.test.ts",
  "test/graphql/uploads/memory.test.ts",
  "test/linear-time/linear-time.test.ts",
];

// The tests that open the explorer, which is bundled before the first of them.
const explorer = [
  "examples/bookshop/test/{browser,operations}.test.ts",
  "examples/bookshop/test/corpus/corpus.test.ts",
  "test/graphql/ide/*.test.ts",
];

// Tests that start their own servers, processes or browser: the files beside them in a shared process would wait for them.
const heavy = [
  "test/auth/accounts/races/{faults,processes,races}.test.ts",
  "test/auth/pages/browser.test.ts",
  "test/client/{browser,killed-server}.test.ts",
  "test/observe/operations-page/operations-page.test.ts",
  "test/graphql/subscriptions/{killed-client,redis-bus}.test.ts",
  "test/http/engine/shared-connection.test.ts",
  "test/openapi/page.test.ts",
  "test/redis/{budget,busy-process,faults,many-servers,processes,pub-sub}.test.ts",
];

// One more than there are cores, because many tests wait for a socket or a timer.
const WORKERS: number = availableParallelism() + 1;

const not = (pattern: string): string => `!${pattern}`;

// Files that share a process, which saves loading the modules for each of them. What a file replaces (modules, timers, the
// environment), the next one would find replaced.
const together = globSync(
  "test/{access,auth,client,gauntlet,graphql,http,interleavings,observe,openapi,pagination,redis,stores,testing}/**/*.test.ts",
  {
    cwd: import.meta.dirname,
  },
)
  .filter((file) => ![...measured, ...heavy, ...explorer].some((pattern) => matchesGlob(file, pattern)))
  .filter((file) => !/\bvi\.(?!fn)|process\.|globalThis/.test(readFileSync(join(import.meta.dirname, file), "utf8")));

// Only a test that hangs takes as long as this. Other processes use the machine as well, so none may depend on its speed.
export const patience: Pick<InlineConfig, "testTimeout" | "hookTimeout" | "expect"> = {
  testTimeout: 180_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
};

// A host that stands still for seconds fails a test now and then. The gate repeats it, three times at most, and lists it.
const retry = process.env["CI"] === "true" ? 3 : 0;

// The first one looks for credentials in everything that the tests log and answer: npm run scan:logs. Both replace modules.
const setups = [
  ...(process.env["PORTICO_LOG_SCAN"] === "1" ? ["test/log-scan/setup.ts"] : []),
  ...(process.env["PORTICO_EXECUTOR"] === "graphql-js" ? ["test/graphql-js-setup.ts"] : []),
];

const config: ViteUserConfig = defineConfig({
  resolve: { alias: [...doors, ...engine, fastCheck] },
  test: {
    projects: [
      {
        extends: true,
        test: { name: "measured", include: [...measured], retry: 3, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: "explorer",
          include: explorer,
          globalSetup: ["test/ide-bundle.ts"],
          maxWorkers: WORKERS,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: "together",
          include: together,
          isolate: false,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: "usual",
          // Not by exclude: what the command line excludes would be forgotten.
          include: [
            "test/**/*.test.ts",
            "examples/*/test/**/*.test.ts",
            ...[...measured, ...explorer, ...together].map(not),
          ],
          typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
          maxWorkers: WORKERS,
          sequence: { groupOrder: 3 },
        },
      },
    ],
    coverage: { provider: "v8", include: ["src/**"], reporter: ["text-summary", "html"] },
    ...patience,
    retry,
    sequence: { sequencer: LongFilesFirst },
    reporters: ["default", "./scripts/retried-reporter.ts"],
    setupFiles: setups,
  },
});
export default config;
