import { availableParallelism } from "node:os";
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

// The name of a test file says what it needs, and test/runner fails a file that does more than its name says.
const named = (kind: string): string[] => [`test/**/*.${kind}.test.ts`, `examples/*/test/**/*.${kind}.test.ts`];
/** These read the open files of a process in /proc, or use every address of 127.0.0.0/8, which only Linux has. */
const onlyOnLinux: readonly string[] = [
  "test/graphql/{corpus,uploads}/**",
  "test/graphql/endpoint/uploads.test.ts",
  "test/http/{messages/unread-output,engine/slow-clients}.test.ts",
];
/** Files that start processes or a browser wait for them, so there are more workers than cores. */
const WORKERS: number = availableParallelism() + 2;
const shared = { maxWorkers: WORKERS, sequence: { groupOrder: 1 } } as const;

// Only a test that hangs takes as long as this. Other processes use the machine as well, so none may depend on its speed.
export const patience: Pick<InlineConfig, "testTimeout" | "hookTimeout" | "expect"> = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

// A net for a host that stands still. The run lists each repeated test.
const retry = process.env["CI"] === "true" ? 1 : 0;

// With PORTICO_RECORD=1 each test file records what it depends on, for npm run test:affected. Files that share a process would
// also record what ran before them.
const isRecording = process.env["PORTICO_RECORD"] === "1";

// Node keeps what it has compiled, types stripped, for the workers and for the processes that tests start. What V8 covers would be
// less exact.
if (!isRecording && !process.argv.includes("--coverage"))
  process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("./.cache/compiled", import.meta.url));

// The recording starts before any source is loaded. The log scan looks for credentials in everything that the tests log and
// respond: npm run scan:logs. The last two replace modules.
const setups = [
  ...(isRecording ? ["scripts/affected/setup.ts"] : []),
  "test/runner/setup.ts",
  ...(process.env["PORTICO_LOG_SCAN"] === "1" ? ["scripts/log-scan/setup.ts"] : []),
  ...(process.env["PORTICO_EXECUTOR"] === "graphql-js" ? ["test/graphql-js-setup.ts"] : []),
];

const config: ViteUserConfig = defineConfig({
  resolve: { alias: [...doors, ...engine, fastCheck] },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "browser",
          include: named("browser"),
          globalSetup: ["test/browser-server.ts"],
          ...shared,
        },
      },
      {
        extends: true,
        test: { name: "servers", include: named("servers"), globalSetup: ["test/ide-bundle.ts"], ...shared },
      },
      { extends: true, test: { name: "database", include: named("database"), isolate: isRecording, ...shared } },
      {
        extends: true,
        test: {
          name: "plain",
          globalSetup: ["test/ide-bundle.ts"],
          // Not by exclude: what the command line excludes would be forgotten.
          include: [
            "test/**/*.test.ts",
            "examples/*/test/**/*.test.ts",
            ...["browser", "servers", "database", "quiet"].flatMap(named).map((pattern) => `!${pattern}`),
            ...(process.platform === "linux" ? [] : onlyOnLinux.map((pattern) => `!${pattern}`)),
          ],
          typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"], tsconfig: "./test/types/tsconfig.json" },
          isolate: isRecording,
          ...shared,
        },
      },
      {
        extends: true,
        test: { name: "quiet", include: named("quiet"), retry: 3, maxWorkers: 1, sequence: { groupOrder: 2 } },
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
