import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { rangesIn } from "../../lab/mutation/changed-lines.ts";
import { otherTests, testsOf } from "../../lab/mutation/check-selection.ts";
import { explanationOf, readExplained } from "../../lab/mutation/explained.ts";
import { folders } from "../../lab/mutation/folders.ts";
import { inSample } from "../../lab/mutation/in-sample.ts";
import type { Mutant } from "../../lab/mutation/instrument.ts";
import { Journal } from "../../lab/mutation/journal.ts";
import { interval, scoreOf } from "../../lab/mutation/score.ts";

const FILE = "src/auth/users/registered-as.ts";
const mutant = (id: string, line = 0): Mutant => ({
  id,
  fileName: FILE,
  mutatorName: "StringLiteral",
  replacement: '""',
  location: { start: { line, column: 0 }, end: { line, column: 6 } },
});

describe("the tests of a folder", () => {
  it("all exist, so that a file that is moved is not forgotten", () => {
    // The last braces of a pattern are those of the kinds of test file.
    const kinds = /\{[^{}]*\}\.test\.ts$/;
    const patterns = Object.values(folders).flatMap(({ tests, testsOfGraphql17 = [], slow = [] }) =>
      [...tests, ...testsOfGraphql17, ...slow].flatMap((pattern) => {
        const [ending = ""] = kinds.exec(pattern) ?? [];
        return alternatives(pattern.replace(kinds, "")).map((name) => `${name}${ending}`);
      }),
    );

    expect(patterns.filter((pattern) => globSync(pattern).length === 0)).toEqual([]);
  });

  /** The patterns that one with braces stands for; the innermost braces first. */
  function alternatives(pattern: string): readonly string[] {
    const [all, before = "", inner = "", after = ""] = /^(.*)\{([^{}]*)\}(.*)$/.exec(pattern) ?? [];
    if (all === undefined) return [pattern];
    return inner.split(",").flatMap((each) => alternatives(`${before}${each}${after}`));
  }
});

describe("the tests that judge a source file", () => {
  const source = "src/kernel/limits/budget.ts";
  const records = new Map(
    ["test/auth/vary.test.ts", "test/kernel/limits/budget.test.ts", "test/kernel/load/load.servers.test.ts"].map(
      (test) => [
        test,
        { files: { [test.includes("load") ? "src/index.ts" : source]: "" }, listed: [], spawned: false },
      ],
    ),
  );

  it("are those that ran it, the nearest first", () => {
    expect(testsOf(source, records)).toEqual(["test/kernel/limits/budget.test.ts", "test/auth/vary.test.ts"]);
  });

  it("are compared with the others of its part", () => {
    const others = otherTests(source, records);

    expect(others).toContain("test/kernel/load/load.servers.test.ts");
    expect(others).not.toContain("test/kernel/limits/budget.test.ts");
  });
});

describe("the sample", () => {
  const mutants = Array.from({ length: 2000 }, (_, line) => mutant("0", line));
  const chosen = (share: number, seed: string): number[] =>
    mutants.flatMap((each, index) => (inSample(each, { share, seed }) ? [index] : []));

  it("has about the wanted share, always the same mutants for a seed and others for another", () => {
    expect(chosen(0.1, "1").length).toBeGreaterThan(150);
    expect(chosen(0.1, "1").length).toBeLessThan(250);
    expect(chosen(0.1, "1")).toEqual(chosen(0.1, "1"));
    expect(chosen(0.1, "1")).not.toEqual(chosen(0.1, "2"));
    expect(chosen(1, "1")).toHaveLength(2000);
  });
});

describe("the score", () => {
  it("leaves out mutants that only run while modules are loaded, and includes those that no test runs", () => {
    const score = scoreOf(
      ["killed", "survived", "loaded", "unreached"].map((id) => mutant(id)),
      [
        { kind: "static", mutants: ["killed", "survived", "loaded"], shard: "0" },
        { kind: "done", test: "a", covered: ["killed", "survived"], shard: "0" },
        { kind: "killed", test: "b", mutant: "killed", reason: "", shard: "1" },
        { kind: "done", test: "b", covered: ["killed", "survived"], shard: "1" },
      ],
    );

    expect([score.killed, score.total]).toEqual([1, 3]);
    expect(score.survivors.map(({ tests }) => tests)).toEqual([2, 0]);
    expect(score.survivors[0]).toMatchObject({ file: FILE, at: 1, mutator: "StringLiteral", original: "import" });
  });

  it("has an interval around it that is narrower for more mutants", () => {
    const [low, high] = interval({ killed: 90, total: 100 });
    const [lower, higher] = interval({ killed: 900, total: 1000 });

    expect([low.toFixed(3), high.toFixed(3)]).toEqual(["0.826", "0.945"]);
    expect([lower.toFixed(3), higher.toFixed(3)]).toEqual(["0.880", "0.917"]);
  });
});

describe("an explained survivor", () => {
  const survivor = { file: FILE, line: 'import "a";', mutator: "StringLiteral", original: '"a"', replacement: '""' };
  const explained = [{ ...survivor, reason: "because" }];

  it("is found by its text, not by its line number", () => {
    expect(explanationOf(survivor, explained)).toBe("because");
    expect(explanationOf({ ...survivor, original: '"b"' }, explained)).toBeUndefined();
    expect(explanationOf({ ...survivor, line: 'import "a"; // b' }, explained)).toBeUndefined();
  });

  it("is deleted with the line that it is about", () => {
    const linesOf = (file: string): readonly string[] =>
      readFileSync(file, "utf8")
        .split("\n")
        .map((line) => line.trim());

    expect(readExplained().filter(({ file, line }) => !linesOf(file).includes(line))).toEqual([]);
  });
});

describe("the changed lines", () => {
  it("are those that a diff adds or changes", () => {
    const diff = [
      "--- a/src/a.ts\n+++ b/src/a.ts",
      "@@ -1 +1 @@\n-a\n+b",
      "@@ -5,0 +6,3 @@\n+c\n+d\n+e",
      "@@ -9,2 +12,0 @@\n-f\n-g",
      "--- a/src/b.md\n+++ b/src/b.md\n@@ -1 +1 @@\n-a\n+b",
      "--- a/src/c.ts\n+++ b/src/c.ts\n@@ -3 +2,0 @@\n-a",
    ].join("\n");

    expect(rangesIn(diff)).toEqual([
      {
        name: "src/a.ts",
        lines: [
          [1, 1],
          [6, 8],
        ],
      },
    ]);
  });
});

describe("the journal", () => {
  it("has the entries of every process, in order, and reads on where it stopped", () => {
    const folder = mkdtempSync(join(tmpdir(), "journal-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [first, second] = ["0", "1"].map((shard) => new Journal(join(folder, "journal"), shard)) as [
      Journal,
      Journal,
    ];

    expect(first.entries()).toEqual([]);
    first.append({ kind: "suspect", test: "ü", mutant: "1" });
    expect(second.entries()).toEqual([{ kind: "suspect", test: "ü", mutant: "1", shard: "0" }]);
    second.append({ kind: "restart" });
    expect(second.entries()).toHaveLength(2);
    expect(first.entries()).toEqual(second.entries());
  });
});
