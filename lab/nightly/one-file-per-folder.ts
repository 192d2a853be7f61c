import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/** Tests that start processes, a build or a browser, need a quiet machine, or take more than half a minute. */
const SLOW = /node:child_process|playwright-core|\bbuilt-package\b|gate-matrix|planted-faults/;

/** The smallest test file of each folder in `test/`, without those that take long. */
export function oneFilePerFolder(root = "."): readonly string[] {
  const files = globSync("test/*/**/*.test.ts", {
    cwd: root,
    exclude: [
      "test/{audit,create-portico,system/{corpus,linear-time,releases},types}/**",
      "test/**/*.{quiet,servers}.test.ts",
    ],
  });
  const byFolder = Map.groupBy(files.toSorted(), (file) => file.split(sep)[1] ?? "");
  return [...byFolder.values()].flatMap((members) => {
    const texts = members
      .map((file) => ({ file: file.replaceAll(sep, "/"), text: readFileSync(join(root, file), "utf8") }))
      .filter(({ file, text }) => !SLOW.test(file) && !SLOW.test(text));
    return texts
      .toSorted((a, b) => a.text.length - b.text.length)
      .slice(0, 1)
      .map(({ file }) => file);
  });
}
