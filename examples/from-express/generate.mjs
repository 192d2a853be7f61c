// Writes the Prisma client to generated/. Inside Portico's own repository, the generator is that of tools/prisma.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const tools = new URL("../../tools/prisma/package.json", import.meta.url);
const generator = createRequire(existsSync(tools) ? tools : import.meta.url).resolve("prisma/build/index.js");
execFileSync(process.execPath, [generator, "generate"], {
  cwd: import.meta.dirname,
  stdio: "pipe",
  // The generator asks for an engine that it does not use, and would download it.
  env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath },
});
