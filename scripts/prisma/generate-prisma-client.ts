import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The packages with a Prisma of one major version. */
export const prismaPackages = ["prisma", "prisma-6"] as const;

/**
 * Generates the Prisma client of the tests.
 *
 * @returns the module that opens it, for the environment variable `PORTICO_PRISMA`
 */
export function generatePrismaClient(folder: (typeof prismaPackages)[number] = "prisma"): string {
  const tools = join(import.meta.dirname, "../../tools", folder);
  execFileSync(process.execPath, [join(tools, "node_modules/prisma/build/index.js"), "generate"], {
    cwd: tools,
    stdio: ["ignore", "ignore", "inherit"],
    // The generator asks for engines that it does not use, and would download them.
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_QUERY_ENGINE_LIBRARY: process.execPath,
    },
  });
  return join(tools, "open-prisma.ts");
}
