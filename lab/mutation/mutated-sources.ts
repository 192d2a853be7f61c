import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Plugin } from "vitest/config";

const root = join(import.meta.dirname, "../..");

/** The text of a source file with its mutants in it, if it has been instrumented. */
export function mutatedSource(folder: string, path: string): string | undefined {
  const file = join(folder, relative(root, path));
  return path.startsWith(join(root, "src/")) && existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Loads the instrumented files of a folder in place of the sources. */
export function mutatedSources(folder: string): Plugin {
  return { name: "mutants", enforce: "pre", load: (id) => mutatedSource(folder, id) };
}
