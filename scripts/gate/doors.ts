import { fileURLToPath } from "node:url";

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What the tests import by the name of a package, and the source that they get. */
export const doors: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      "auth",
      "drizzle",
      "graphql",
      "nats",
      "pagination",
      "redis",
      "sql",
      "testing",
      "types",
      "types/graphql",
      "types/sql",
    ].map((door) => [`portico/${door}`, file(`src/${door}/index.ts`)]),
  ),
  portico: file("src/index.ts"),
  "portico-client": file("packages/portico-client/src/index.ts"),
  // With a seed.
  "fast-check": file("test/seeded-fast-check.ts"),
};
