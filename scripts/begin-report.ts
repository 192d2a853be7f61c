import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestPath, reportPath } from "./spec/report.ts";
import { sourceDigest } from "./spec/source-digest.ts";

/** Removes the test report of an earlier run, and stores the hash of the sources that the next one will be about. */
export function beginReport(root = "."): void {
  mkdirSync(join(root, ".cache"), { recursive: true });
  rmSync(join(root, reportPath), { force: true });
  writeFileSync(join(root, digestPath), sourceDigest(root));
}

if (import.meta.main) {
  beginReport();
  // What Node has compiled for earlier runs: see vitest.config.ts. It would keep the files of temporary folders forever.
  rmSync(".cache/compiled", { recursive: true, force: true });
}
