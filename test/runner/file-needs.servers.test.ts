import { execFile } from "node:child_process";
import { connect } from "node:net";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { watchNeeds } from "./file-needs.ts";
import { type TestKind, testKind } from "./test-kind.ts";

const startProcess = (): Promise<unknown> => promisify(execFile)(process.execPath, ["--version"]);
const connectTo = (port: number) => (): Promise<void> =>
  new Promise((resolve) =>
    connect(port, "127.0.0.1", resolve)
      .on("error", () => resolve())
      .unref(),
  );

describe("a test file that does more than its name says", () => {
  it.each<[string, () => Promise<unknown>, string]>([
    ["test/a.test.ts", startProcess, "/node: rename it to test/a.servers.test.ts"],
    ["test/a.database.test.ts", startProcess, "/node: rename it to test/a.servers.test.ts"],
    ["test/a.test.ts", connectTo(5432), "connects to PostgreSQL: rename it to test/a.database.test.ts"],
    ["test/a.test.ts", connectTo(6379), "connects to Redis: rename it to test/a.database.test.ts"],
  ])("%s is told its name", async (file, act, sentence) => {
    const unnamed = watchNeeds(file, testKind(file));

    await act();

    expect(unnamed()).toMatch(new RegExp(`^${file} .*${sentence}$`));
  });

  it.each<[string, () => Promise<unknown>]>([
    ["test/a.servers.test.ts", startProcess],
    ["test/a.servers.test.ts", connectTo(5432)],
    ["test/a.database.test.ts", connectTo(5432)],
    ["test/a.browser.test.ts", startProcess],
    ["test/a.test.ts", async () => {}],
  ])("%s may do what its name says", async (file, act) => {
    const unnamed = watchNeeds(file, testKind(file));

    await act();

    expect(unnamed()).toBe(undefined);
  });
});

it.each<[string, TestKind]>([
  ["test/a.test.ts", "plain"],
  ["test/database.test.ts", "plain"],
  ["test/a.database.test.ts", "database"],
  ["test/a.modules.test.ts", "modules"],
  ["test/a.quiet.test.ts", "quiet"],
])("the kind of %s is %s", (file, kind) => {
  expect(testKind(file)).toBe(kind);
});
