import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { beginReport } from "../../scripts/begin-report.ts";
import { idsInTitle, outcomes, readCurrentReport, readReport, reportPath } from "../../scripts/spec/report.ts";

describe("idsInTitle", () => {
  it.each([
    ["[RES-02] reads a header", ["RES-02"]],
    ["[RES-02] [RES-10] reads a header", ["RES-02", "RES-10"]],
    ["[RES-02][graphql:A7] reads a header", ["RES-02", "graphql:A7"]],
    ["[auth:AU-034] [pagination:PG-055] is refused", ["auth:AU-034", "pagination:PG-055"]],
    ["reads a header as in [RES-02]", []],
    ["[0, 1] is a list", []],
    ["answers 200", []],
  ])("reads %s", (title, ids) => {
    expect(idsInTitle(title)).toEqual(ids);
  });
});

describe("outcomes", () => {
  it("holds an id for passed only when every test that names it passed", () => {
    const found = outcomes([
      { title: "[RES-01] a", status: "passed" },
      { title: "[RES-02] a", status: "passed" },
      { title: "[RES-02] b", status: "failed" },
      { title: "[RES-03] a", status: "pending" },
      { title: "[RES-03] b", status: "passed" },
    ]);

    expect(Object.fromEntries(found)).toEqual({ "RES-01": "passed", "RES-02": "failed", "RES-03": "skipped" });
  });
});

describe("readReport", () => {
  it("says what to run when there is no report", () => {
    expect(() => readReport("nowhere/report.json")).toThrow('run "npm test" first');
  });
});

describe("readCurrentReport", () => {
  const tests = [{ title: "[RES-01] a", status: "passed" }];

  /** A project of two files, and a function that writes one of them. */
  function project() {
    const root = mkdtempSync(join(tmpdir(), "portico-report-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const write = (file: string, text: string): void => {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    };
    write(".gitignore", "node_modules/\nexamples/*/generated/\n.cache/\n");
    write("src/a.ts", "1");
    write("test/a.test.ts", "1");
    return { root, write };
  }

  /** Runs "npm test" as far as the report is concerned. */
  function report({ root, write }: ReturnType<typeof project>): void {
    beginReport(root);
    write(reportPath, JSON.stringify({ testResults: [{ assertionResults: tests }] }));
  }

  it("returns the tests of the report if the sources are those that were tested", () => {
    const tested = project();
    report(tested);

    expect(readCurrentReport(tested.root)).toEqual(tests);
  });

  it.each([
    ["a changed source", "src/a.ts"],
    ["a changed test", "test/a.test.ts"],
    ["a new example", "examples/shop/src/app.ts"],
  ])("rejects a report that is older than %s", (_, file) => {
    const tested = project();
    report(tested);

    tested.write(file, "2");

    expect(() => readCurrentReport(tested.root)).toThrow(
      'is older than the files in src, test or examples: run "npm test" again',
    );
  });

  it("accepts files that were written again with the same content, and those that Git ignores", () => {
    const tested = project();
    report(tested);

    tested.write("src/a.ts", "1");
    utimesSync(join(tested.root, "src/a.ts"), new Date(), new Date(Date.now() + 60_000));
    tested.write("examples/node_modules/a/index.js", "1");
    tested.write("examples/shop/generated/client.ts", "1");

    expect(readCurrentReport(tested.root)).toEqual(tests);
  });

  it("rejects the report of an earlier run if the tests were stopped", () => {
    const tested = project();
    report(tested);

    beginReport(tested.root);

    expect(() => readCurrentReport(tested.root)).toThrow('run "npm test" first');
  });
});
