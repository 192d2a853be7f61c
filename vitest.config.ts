import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const source = (file: string): string => fileURLToPath(new URL(`./src/${file}`, import.meta.url));

// The longer name first: an alias also matches what begins with it.
const doors = [
  { find: "portico/auth", replacement: source("auth/index.ts") },
  { find: "portico/graphql", replacement: source("graphql/index.ts") },
  { find: "portico/pagination", replacement: source("pagination/index.ts") },
  { find: "portico/redis", replacement: source("redis/index.ts") },
  { find: "portico/sql", replacement: source("sql/index.ts") },
  { find: "portico/testing", replacement: source("testing/index.ts") },
  { find: "portico", replacement: source("index.ts") },
];

// Both majors of the peer are installed; PORTICO_GRAPHQL=17 runs the same tests on the newer one.
// Of graphql 16 Vite would take another build than Node does, and libraries that Node loads would bring a second copy.
const engine =
  process.env["PORTICO_GRAPHQL"] === "17"
    ? [{ find: /^graphql(?=\/|$)/, replacement: "graphql17" }]
    : [{ find: /^graphql$/, replacement: "graphql/index.js" }];

const config: ViteUserConfig = defineConfig({
  resolve: { alias: [...doors, ...engine] },
  test: {
    include: ["test/**/*.test.ts", "examples/*/test/**/*.test.ts"],
    typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
    coverage: { provider: "v8", include: ["src/**"], reporter: ["text-summary", "html"] },
    testTimeout: 20_000,
    globalSetup: ["test/ide-bundle.ts"],
    // Looks for credentials in everything that the tests log and answer: npm run scan:logs.
    setupFiles: process.env["PORTICO_LOG_SCAN"] === "1" ? ["test/log-scan/setup.ts"] : [],
  },
});
export default config;
