import { defineConfig } from "vitest/config";

// `npm run test:prisma` in Portico's repository runs them, because Prisma is installed only in tools/prisma.
export default defineConfig({
  test: { include: ["test-prisma/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 180_000 },
});
