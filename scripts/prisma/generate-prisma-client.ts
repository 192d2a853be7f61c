import { execFileSync } from "node:child_process";
import { join } from "node:path";

const tools = join(import.meta.dirname, "../../tools/prisma");

/**
 * Generates the Prisma client of the tests.
 *
 * @returns the module that opens it, for the environment variable `PORTICO_PRISMA`
 */
export function generatePrismaClient(): string {
  execFileSync(process.execPath, [join(tools, "node_modules/prisma/build/index.js"), "generate"], {
    cwd: tools,
    stdio: ["ignore", "ignore", "inherit"],
    // The generator asks for an engine that it does not use, and would download it.
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath },
  });
  return join(tools, "open-prisma.ts");
}
