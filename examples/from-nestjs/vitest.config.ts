import { defineConfig } from "vitest/config";

// npm run test:nest: the tests of the old version, which needs its own packages. Portico's npm test runs those of the new one.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["test/tracker.servers.test.ts", "before/test/**/*.test.ts"],
    env: { TRACKER_VERSION: "before" },
    testTimeout: 60_000,
    hookTimeout: 180_000,
  },
});
