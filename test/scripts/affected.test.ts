import { describe, expect, it } from "vitest";
import { actsOnLoad } from "../../scripts/affected/acts-on-load.ts";
import { executedFiles } from "../../scripts/affected/executed-files.ts";
import { type ChangedFile, type Repository, type Selection, selectTests } from "../../scripts/affected/select-tests.ts";
import type { TestRecord } from "../../scripts/affected/test-record.ts";

const PAGES = "test/pages.test.ts";
const USERS = "test/users.test.ts";

describe("a change of a source file", () => {
  it("selects the tests whose records contain it", () => {
    const { everything, tests } = select({ changed: [changed("src/page.ts")] });

    expect(everything).toBeNull();
    expect([...tests]).toEqual([[PAGES, "depends on src/page.ts"]]);
  });

  it("selects everything if the file is in no record", () => {
    expect(select({ changed: [changed("src/types.ts")] })).toMatchObject({
      everything: "src/types.ts is in no record",
    });
  });

  it("selects everything if the file was removed", () => {
    const removed = { ...changed("src/page.ts"), kind: "removed" } as const;

    expect(select({ changed: [removed] }).everything).toBe("src/page.ts was removed");
  });

  it("selects everything if loading the file has an effect", () => {
    const acting = { ...changed("src/page.ts"), actsOnLoad: true };

    expect(select({ changed: [acting] }).everything).toBe("src/page.ts has an effect when it is loaded");
  });

  it("selects tests that start processes, whatever they have in their records", () => {
    const records = new Map([...recorded(), [USERS, { ...record("src/user.ts"), spawned: true }] as const]);

    const { tests } = select({ records, changed: [changed("src/page.ts")] });

    expect(tests.get(USERS)).toBe("starts processes");
  });

  it("selects a test without a record", () => {
    const { tests } = select({ records: new Map([[PAGES, record("src/page.ts")]]), changed: [changed("src/page.ts")] });

    expect(tests.get(USERS)).toBe("has no record");
  });

  it("selects a test whose record is older than a file in it, because it may run other files since then", () => {
    const digest = (path: string): string => (path === "src/user.ts" ? "newer" : "as recorded");

    const { tests } = select({ changed: [changed("src/page.ts")], digest });

    expect(tests.get(USERS)).toBe("has a record older than a file in it");
  });

  it("selects the type tests, which have no records", () => {
    const { tests } = select({
      tests: [PAGES, USERS, "test/types/page.test-d.ts"],
      changed: [changed("src/page.ts")],
    });

    expect([...tests.keys()]).toEqual([PAGES, "test/types/page.test-d.ts"]);
  });

  it("selects no test that is gone", () => {
    const { tests } = select({ tests: [USERS], changed: [changed("src/page.ts")] });

    expect([...tests]).toEqual([]);
  });
});

describe("a change of another file", () => {
  it.each([
    "package.json",
    "package-lock.json",
    "biome.json",
    ".github/workflows/ci.yml",
    "examples/shop/package.json",
  ])("selects everything for %s, even if a test has read it", (path) => {
    const records = new Map([...recorded(), [USERS, record(path)] as const]);

    expect(select({ records, changed: [changed(path)] }).everything).toBe(`${path} can affect every test`);
  });

  it.each(["vitest.config.ts", "scripts/reporter.ts", "scripts/printer.ts", "test/environment.ts"])(
    "selects everything for %s, which configures the tests",
    (path) => {
      const texts = new Map([
        ["vitest.config.ts", `import "./scripts/reporter.ts";\nconst setup = "test/environment.ts";`],
        ["scripts/reporter.ts", `import { print } from "./printer.ts";`],
        ["test/environment.ts", ""],
      ]);
      const records = new Map([...recorded(), [USERS, record(path)] as const]);

      expect(select({ texts, records, changed: [changed(path)] }).everything).toBe(`${path} configures the tests`);
    },
  );

  it("selects by the records for a source that a setup file imports, and for a helper of a test that the configuration names", () => {
    const texts = new Map([
      ["vitest.config.ts", `const [setup, heavy] = ["test/environment.ts", "test/users.test.ts"];`],
      ["test/environment.ts", `import { page } from "../src/page.ts";`],
      [USERS, `import { port } from "./port.ts";`],
    ]);

    expect([...select({ texts, changed: [changed("src/page.ts")] }).tests.keys()]).toEqual([PAGES]);
    expect([...select({ texts, changed: [changed("test/port.ts")] }).tests.keys()]).toEqual([USERS]);
  });

  it.each(["docs/guide/pages.md", "README.md"])("selects the tests that read %s", (path) => {
    const records = new Map([...recorded(), [USERS, record(path)] as const]);

    const { everything, tests } = select({ records, changed: [changed(path)] });

    expect(everything).toBeNull();
    expect([...tests.keys()]).toEqual([USERS]);
  });

  it("selects everything for a page that no test reads", () => {
    expect(select({ changed: [changed("docs/new.md")] }).everything).toBe("docs/new.md is in no record");
  });

  it("selects tests that listed a folder if a file is added to it", () => {
    const added = { ...changed("src/page.ts"), kind: "added" } as const;
    const records = new Map([...recorded(), [USERS, { ...record("src/user.ts"), listed: ["src"] }] as const]);

    expect([...select({ records, changed: [added] }).tests.keys()]).toEqual([PAGES, USERS]);
    expect([...select({ records, changed: [changed("src/page.ts")] }).tests.keys()]).toEqual([PAGES]);
  });
});

describe("a change below test/", () => {
  it("selects a changed test file only, also if other records are old or start processes", () => {
    const records = new Map([...recorded(), [USERS, { ...record("src/user.ts"), spawned: true }] as const]);

    const { tests } = select({ records, changed: [changed(PAGES)], digest: () => "newer" });

    expect([...tests.keys()]).toEqual([PAGES]);
  });

  it("selects a changed test of an example only", () => {
    const test = "examples/shop/test/shop.test.ts";
    const records = new Map([...recorded(), [test, record("src/page.ts")] as const]);

    const { tests } = select({ tests: [PAGES, USERS, test], records, changed: [changed(test)], digest: () => "newer" });

    expect([...tests.keys()]).toEqual([test]);
  });

  it("selects nothing for a removed test file that no other test imports, reads or lists", () => {
    const removed = { ...changed("test/gone.test.ts"), kind: "removed" } as const;

    const { everything, tests } = select({ changed: [removed] });

    expect(everything).toBeNull();
    expect([...tests]).toEqual([]);
  });

  it("selects the tests that import a helper, also through another helper", () => {
    const texts = new Map([
      [PAGES, `import { startApp } from "./helpers/start-app.ts";`],
      ["test/helpers/start-app.ts", `import { port } from "../port.ts";`],
    ]);

    expect([...select({ texts, changed: [changed("test/port.ts")] }).tests.keys()]).toEqual([PAGES]);
  });

  it("selects the tests that name a helper by its path from the root", () => {
    const texts = new Map([[PAGES, `spawn("node", ["test/helpers/serve.ts"]);`]]);

    expect([...select({ texts, changed: [changed("test/helpers/serve.ts")] }).tests.keys()]).toEqual([PAGES]);
  });

  it("selects the tests that import a helper which was removed", () => {
    const texts = new Map([[USERS, `import { port } from "./port.ts";`]]);
    const removed = { ...changed("test/port.ts"), kind: "removed" } as const;

    expect([...select({ texts, changed: [removed] }).tests.keys()]).toEqual([USERS]);
  });

  it("selects the tests beside the folder of a fixture", () => {
    const tests = [PAGES, USERS, "test/cli/dev.test.ts"];
    const records = new Map([...recorded(), ["test/cli/dev.test.ts", record("src/cli.ts")] as const]);
    const texts = new Map(tests.map((test) => [test, ""]));

    const selection = select({ tests, texts, records, changed: [changed("test/cli/fixtures/shop.ts")] });

    expect([...selection.tests.keys()]).toEqual(["test/cli/dev.test.ts"]);
  });

  it("selects the tests that mention the name of a fixture", () => {
    const texts = new Map([[USERS, "const file = join(folder, `shop.conf`);"]]);

    expect([...select({ texts, changed: [changed("test/cli/fixtures/shop.conf")] }).tests.keys()]).toEqual([USERS]);
  });

  it("selects the tests that read a file of data", () => {
    const records = new Map([...recorded(), [USERS, record("test/names.txt")] as const]);

    expect([...select({ records, changed: [changed("test/names.txt")] }).tests.keys()]).toEqual([USERS]);
  });

  it("selects everything for a helper that no test seems to use", () => {
    expect(select({ changed: [changed("test/port.ts")] }).everything).toBe("test/port.ts is in no record");
  });
});

it("selects nothing if nothing has changed", () => {
  const selection = select({ tests: [PAGES, USERS, "test/new.test.ts"], changed: [], digest: () => "newer" });

  expect(selection).toEqual({ everything: null, tests: new Map() });
});

describe("a module has an effect when it is loaded", () => {
  it.each([
    ["by a statement", `const a = 1;\nregister(a);\n`],
    ["by an assignment", `Plan.compile = () => null;\n`],
    ["by a condition", `if (a) {\n  register(a);\n}\n`],
    ["by an import without names", `import "./register.ts";\n`],
    ["by an export of everything, which has no getters", `export * from "./page.ts";\n`],
  ])("%s", (_how, text) => {
    expect(actsOnLoad(text)).toBe(true);
  });

  it("but not by its declarations, and not by the part of a script that only runs on its own", () => {
    const text = [
      `import { a } from "./a.ts";`,
      "",
      "/** About it. */",
      "export const TABLE = {",
      "  a: call(a),",
      "};",
      "export async function run(): Promise<void> {",
      "  await call(TABLE);",
      "}",
      "export { a } from './a.ts';",
      "if (import.meta.main) run();",
    ].join("\n");

    expect(actsOnLoad(text)).toBe(false);
  });
});

describe("the executed files", () => {
  it("do not include a module that was only loaded", () => {
    expect(executed([0, 900, 1], [13, 900, 1], [300, 400, 0])).toBe(false);
  });

  it("include a module with a function that ran, or with an export that was used", () => {
    expect(executed([0, 900, 1], [13, 900, 1], [300, 400, 1])).toBe(true);
  });

  it("include a function that ran when the module itself was reported before", () => {
    expect(executed([300, 400, 1])).toBe(true);
  });

  it("include a module that Node loaded without Vite", () => {
    expect(executed([0, 900, 1], [300, 400, 0])).toBe(true);
  });

  it("are files, without the query of their addresses", () => {
    const functions = [{ functionName: "run", isBlockCoverage: false, ranges: [range([20, 40, 1])] }];
    const scripts = ["node:fs", "file:///app/src/a%20b.ts?t=1"].map((url) => ({ scriptId: "1", url, functions }));

    expect(executedFiles(scripts)).toEqual(["/app/src/a b.ts"]);
  });
});

type Range = readonly [start: number, end: number, count: number];

function executed(...ranges: readonly Range[]): boolean {
  const functions = ranges.map((of) => ({ functionName: "", isBlockCoverage: false, ranges: [range(of)] }));
  return executedFiles([{ scriptId: "1", url: "file:///app/src/page.ts", functions }]).length > 0;
}

function range([startOffset, endOffset, count]: Range): { startOffset: number; endOffset: number; count: number } {
  return { startOffset, endOffset, count };
}

function select(of: Partial<Repository>): Selection {
  return selectTests({
    tests: [PAGES, USERS],
    records: recorded(),
    changed: [],
    digest: () => "as recorded",
    texts: new Map(),
    ...of,
  });
}

function recorded(): Map<string, TestRecord> {
  return new Map([
    [PAGES, record("src/page.ts")],
    [USERS, record("src/user.ts")],
  ]);
}

function record(...files: readonly string[]): TestRecord {
  return { files: Object.fromEntries(files.map((file) => [file, "as recorded"])), listed: [], spawned: false };
}

function changed(path: string): ChangedFile {
  return { path, kind: "changed", actsOnLoad: false };
}
