import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import type { InlineConfig } from "vitest/node";
import { doors } from "./scripts/gate/doors.ts";
import { LongFilesFirst } from "./scripts/long-files-first.ts";

// The whole name: an alias that is a text also matches what begins with it.
const aliases = Object.entries(doors).map(([name, replacement]) => ({ find: new RegExp(`^${name}$`), replacement }));

// Both majors of the peer are installed; PORTICO_GRAPHQL=17 runs the same tests on the newer one.
// Of graphql 16 Vite would take another build than Node does, and libraries that Node loads would bring a second copy.
const engine =
  process.env["PORTICO_GRAPHQL"] === "17"
    ? [{ find: /^graphql(?=\/|$)/, replacement: "graphql17" }]
    : [{ find: /^graphql$/, replacement: "graphql/index.js" }];

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

// Node loads modules in about half the CPU time that Vite needs, but it replaces none (that is what x.modules.test.ts is for), and
// nothing says which of them ran.
const isNative = !isRecording && !process.argv.includes("--coverage") && setups.length === 1;
const native: InlineConfig = isNative
  ? {
      experimental: { viteModuleRunner: false, nodeLoader: false },
      execArgv: ["--import", new URL("test/runner/open-doors.ts", import.meta.url).href],
    }
  : {};

const config: ViteUserConfig = defineConfig({
  resolve: { alias: [...aliases, ...engine] },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "browser",
          include: named("browser"),
          globalSetup: ["test/browser-server.ts"],
          ...shared,
          ...native,
        },
      },
      {
        extends: true,
        test: {
          name: "servers",
          include: named("servers").filter((pattern) => pattern.startsWith("test/")),
          globalSetup: ["test/ide-bundle.ts"],
          isolate: isRecording,
          ...shared,
          ...native,
        },
      },
      // An example opens its databases as it is loaded.
      {
        extends: true,
        test: {
          name: "alone",
          include: [...named("alone"), ...named("servers").filter((pattern) => pattern.startsWith("examples/"))],
          ...shared,
          ...native,
        },
      },
      { extends: true, test: { name: "modules", include: named("modules"), ...shared } },
      {
        extends: true,
        test: { name: "database", include: named("database"), isolate: isRecording, ...shared, ...native },
      },
      {
        extends: true,
        test: {
          name: "plain",
          globalSetup: ["test/ide-bundle.ts"],
          // Not by exclude: what the command line excludes would be forgotten.
          include: [
            "test/**/*.test.ts",
            "examples/*/test/**/*.test.ts",
            // Node runs these, in a folder with packages of its own.
            "!examples/same-api/**",
            ...["browser", "servers", "alone", "modules", "database", "quiet"]
              .flatMap(named)
              .map((pattern) => `!${pattern}`),
            ...(process.platform === "linux" ? [] : onlyOnLinux.map((pattern) => `!${pattern}`)),
          ],
          typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"], tsconfig: "./test/types/tsconfig.json" },
          isolate: isRecording,
          ...shared,
          ...native,
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
