import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const IGNORED = new Set(["node_modules", "dist", ".cache", "coverage"]);

/** A hash of the files in `src`, `test` and `examples`. Unlike a modification time, it survives `git checkout`. */
export function sourceDigest(root = "."): string {
  const files = globSync("{src,test,examples}/**", {
    cwd: root,
    withFileTypes: true,
    exclude: ({ name }) => IGNORED.has(name),
  })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .sort();
  const digest = createHash("sha256");
  for (const file of files) {
    const content = readFileSync(join(root, file));
    digest.update(`${file}\0${content.length}\0`).update(content);
  }
  return digest.digest("hex");
}
