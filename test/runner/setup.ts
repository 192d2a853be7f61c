import { join, relative, sep } from "node:path";
import { afterAll, expect } from "vitest";
import { cheapHashes } from "../../scripts/gate/cheap-hashes.ts";
import { type FileCost, measureFile } from "../../scripts/gate/file-cost.ts";
import { watchNeeds } from "./file-needs.ts";
import { watchProcess } from "./left-behind.ts";
import { testKind } from "./test-kind.ts";

declare module "vitest" {
  interface TaskMeta {
    cost?: FileCost;
  }
}

// Runs before each test file, in the process of the file.
const root = join(import.meta.dirname, "../..");
const file = relative(root, expect.getState().testPath ?? "").replaceAll(sep, "/");
const kind = testKind(file);
// Other files have a process to themselves.
const isShared = kind === "plain" || kind === "database" || (kind === "servers" && file.startsWith("test/"));
if (kind === "plain" || kind === "database") cheapHashes();
// Portico keeps what it has read from a catalogue by the text of the query, and test files have tables of the same name.
if (isShared && kind !== "plain") (await import("../../src/sql/queries/query-shape.ts")).QueryShape.forgetAll();
const cost = measureFile();
const unnamed = watchNeeds(file, kind);
const left = watchProcess();

// oxlint-disable-next-line no-empty-pattern -- Vitest accepts nothing else for a context that is not used
afterAll(({}, suite) => {
  Object.assign(suite.meta, { cost: cost() });
  const need = unnamed();
  if (need !== undefined) throw new Error(need);
  const changed = isShared ? left() : [];
  if (changed.length > 0)
    throw new Error(
      `${file} leaves ${changed.join(", ")} changed: files share a process, so restore it, or name the file x.alone.test.ts`,
    );
});
