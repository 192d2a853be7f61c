import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** The declaration files that TypeScript reads for these entry points: their own, and all that those import. */
export function reachableDeclarations(entryPoints: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...entryPoints];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/\b(?:from|import\(|import) ?"(\.[^"]+)"/g))
      waiting.push(resolve(dirname(file), path.replace(/\.[jt]s$/, ".d.ts")));
  }
  return found;
}
