import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";

const SEEDED = /from "(?:fast-check|[^"]+\/property-seed\.ts)"/;

/** The test files whose inputs depend on PORTICO_SEED, by themselves or by a helper that they import. */
export function seededFiles(root = "."): readonly string[] {
  const known = new Map<string, boolean>();
  const isSeeded = (file: string): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    // Files may import each other.
    known.set(file, false);
    const text = readFileSync(file, "utf8");
    const imported = [...text.matchAll(/from "(\.[^"]+\.ts)"/g)].map(([, path = ""]) => join(dirname(file), path));
    const helpers = imported.filter((helper) => helper.startsWith(join(root, "test")) && existsSync(helper));
    const found = SEEDED.test(text) || helpers.some(isSeeded);
    known.set(file, found);
    return found;
  };
  return globSync("{test,examples/*/test}/**/*.test.ts", { cwd: root })
    .toSorted()
    .filter((file) => isSeeded(join(root, file)))
    .map((file) => file.replaceAll(sep, "/"));
}
