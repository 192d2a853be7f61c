import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { generatePrismaClient, prismaPackages } from "./prisma/generate-prisma-client.ts";

// Runs the tests of lists over tables on PostgreSQL through generated clients of Prisma 7 and 6, and checks and tests
// examples/from-express. Prisma is large, so each version has its own package: run "npm ci --prefix tools/prisma" and
// "npm ci --prefix tools/prisma-6" first. The versions differ in how they send statements and read values, not in which statements
// those are, so Prisma 6 gets the tests of connections, transactions and walks. With --all it gets all of them. A word
// selects the files whose names contain it, such as "npm run test:prisma -- connection".
const root = join(import.meta.dirname, "..");
const node = (cwd: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): void =>
  void execFileSync(process.execPath, args, { cwd, stdio: "inherit", env: { ...process.env, ...env } });

const names = [
  "test/system/corpus/pagination",
  "test/sql/lists/{walks,nested-walks,filters,nested-lists,among,job-walks,order-by-expression}",
  "test/sql/lists/{scoped-handlers,scoped-lists,table-handler}",
  "test/sql/{connection,prisma-transaction}",
  "test/testing/expect-plans",
];
const ofPrisma6 = [
  "test/sql/lists/{walks,table-handler}",
  "test/sql/{connection,prisma-transaction}",
  "test/testing/expect-plans",
];
const isWhole = process.argv.includes("--all");
const word = process.argv.slice(2).find((argument) => argument !== "--all");
const filesOf = (patterns: readonly string[]): readonly string[] => {
  const files = patterns.flatMap((name) => {
    const found = globSync(`${name}.{database,servers}.test.ts`, { cwd: root });
    if (found.length === 0) throw new Error(`no test file matches ${name}: it was moved or renamed`);
    return found;
  });
  const chosen = files.filter((file) => word === undefined || file.includes(word));
  if (chosen.length === 0) throw new Error(`${word} is in the name of no test file: ${files.join(", ")}`);
  return chosen;
};
const vitest = join(root, "node_modules/vitest/vitest.mjs");
for (const folder of prismaPackages)
  node(
    root,
    { PORTICO_PRISMA: generatePrismaClient(folder) },
    vitest,
    "run",
    "--project=database",
    "--project=servers",
    "--typecheck.enabled=false",
    // Drizzle has its own connections.
    "--testNamePattern=^(?!.*(?:transaction|Drizzle)).*PostgreSQL",
    ...filesOf(folder === "prisma-6" && !isWhole ? ofPrisma6 : names),
  );

if (word !== undefined) process.exit();

const example = join(root, "examples/from-express");
node(example, {}, "generate.mjs");
node(root, {}, join(root, "node_modules/typescript/bin/tsc"), "-p", "tools/prisma/tsconfig.example.json");
node(example, {}, vitest, "run");
