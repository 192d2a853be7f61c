import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

/**
 * A hash of the files in `src`, `test`, `examples` and the folders of `lab` that tests use. Unlike a modification time, it
 * survives `git checkout`. What Git ignores is no source: other steps generate it beside the tests.
 */
export function sourceDigest(root = "."): string {
  const ignored = ignoredFolders(root);
  const files = globSync("{src,test,examples,lab/servers,lab/seeds}/**", {
    cwd: root,
    withFileTypes: true,
    exclude: ({ name }) => ignored.has(name),
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

/** The names of the folders in `.gitignore`, wherever they are. */
function ignoredFolders(root: string): ReadonlySet<string> {
  const lines = readFileSync(join(root, ".gitignore"), "utf8").split("\n");
  return new Set(lines.filter((line) => line.endsWith("/")).map((line) => basename(line)));
}
