import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { changedFiles } from "./changed-files.ts";
import { git, gitWithInput } from "./git.ts";
import type { Repository } from "./select-tests.ts";
import { fileDigest, readRecords, type TestRecord } from "./test-record.ts";

/** Reads everything that the selection of tests depends on: the records, and the changes since a commit. */
export function readRepository(root: string, since: string): Repository {
  const records = withoutIgnored(root, readRecords(root));
  const digests = new Map<string, string>();
  return {
    tests: testFiles(root),
    records,
    changed: changedFiles(root, since),
    digest(path) {
      const digest = digests.get(path) ?? fileDigest(join(root, path));
      digests.set(path, digest);
      return digest;
    },
    texts: readTexts(root),
  };
}

/** Every test file of the gate. Those that need a quiet machine belong to the nightly run. */
function testFiles(root: string): string[] {
  const patterns = ["test/**/*.test.ts", "examples/*/test/**/*.test.ts", "test/types/**/*.test-d.ts"];
  return globSync(patterns, { cwd: root })
    .map((file) => file.replaceAll(sep, "/"))
    .filter((file) => !file.endsWith(".quiet.test.ts"))
    .toSorted();
}

/** A file that Git ignores is an output: it differs from run to run, and no commit changes it. */
function withoutIgnored(root: string, records: ReadonlyMap<string, TestRecord>): Map<string, TestRecord> {
  const paths = new Set([...records.values()].flatMap(({ files }) => Object.keys(files)));
  const output = gitWithInput(root, [...paths].join("\0"), "check-ignore", "--stdin", "-z");
  const ignored = new Set(output.split("\0"));
  return new Map(
    [...records].map(([test, record]) => {
      const files = Object.entries(record.files).filter(([path]) => !ignored.has(path));
      return [test, { ...record, files: Object.fromEntries(files) }];
    }),
  );
}

function readTexts(root: string): Map<string, string> {
  const listed = git(
    root,
    "ls-files",
    "--cached",
    "--others",
    "--exclude-standard",
    "-z",
    "test",
    "scripts",
    "lab",
    "examples",
  );
  const files = listed.split("\0").filter((file) => /\.[cm]?[jt]sx?$/.test(file));
  return new Map(["vitest.config.ts", ...files].flatMap((file) => textOf(root, file)));
}

/** The index also lists files that are no longer there. */
function textOf(root: string, file: string): [string, string][] {
  try {
    return [[file, readFileSync(join(root, file), "utf8")]];
  } catch {
    return [];
  }
}
