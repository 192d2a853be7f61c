import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { bundle } from "../../scripts/bundle.ts";
import { root } from "./repository.ts";

const COMPILER = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

/**
 * Makes the folder that a user has after `npm install portico`: empty but for a `package.json` and `node_modules`. The
 * package in it is built from the source as it stands now; its own dependencies are those of the repository.
 */
export async function folderWithPackage(name: string): Promise<string> {
  const folder = join(root, ".cache", "installed", name);
  const installed = join(folder, "node_modules", "portico");
  await rm(folder, { recursive: true, force: true });
  await mkdir(installed, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ dependencies: { portico: "*" } }));
  await cp(join(root, "package.json"), join(installed, "package.json"));
  // What does not type-check is another test's business: here it counts what runs.
  const build = [COMPILER, "-p", join(root, "tsconfig.build.json"), "--outDir", join(installed, "dist")];
  await promisify(execFile)(process.execPath, build).catch((error: unknown) => {
    if (!existsSync(join(installed, "dist", "index.js"))) throw error;
  });
  await bundle(join(installed, "dist"));
  return folder;
}
