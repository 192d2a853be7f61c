import { expect, it } from "vitest";
import { judgeCorpora } from "../../scripts/corpus.ts";
import { type Outcome, outcomes } from "../../scripts/spec/report.ts";
import type { Verdict } from "../../scripts/spec/verdict.ts";

const rows = (...ids: string[]): string =>
  ["## A. Rows", "| id | input | expected |", "|---|---|---|", ...ids.map((id) => `| ${id} | x | 400 |`)].join("\n");
const corpora = new Map([
  ["graphql", rows("A1", "A2", "A3")],
  ["auth", rows("AU-001", "AU-002")],
]);
const waits = (...ids: string[]): string => ids.map((id) => `| ${id} | Endpoint |`).join("\n");

const judge = (found: Map<string, Outcome>, waiting: string, ...names: string[]): Verdict =>
  judgeCorpora({ corpora, waiting, outcomes: found, names });
const passed = (...titles: string[]): Map<string, Outcome> =>
  outcomes(titles.map((title) => ({ title, status: "passed" })));

it("counts the rows of one corpus", () => {
  const verdict = judge(passed("[graphql:A1] [graphql:A2] is refused"), waits("graphql A3"), "graphql");

  expect(verdict.lines).toEqual([
    "graphql: 2 passed, 0 failed, 1 waiting",
    "  waits for Endpoint: A3",
    "2 passed, 0 failed, 1 waiting",
  ]);
  expect(verdict.ok).toBe(true);
});

it("fails on a row without a test that does not wait", () => {
  const verdict = judge(passed("[graphql:A1] is refused"), waits("graphql A3"), "graphql");

  expect(verdict.lines).toContain("  no test: A2");
  expect(verdict.lines.at(-1)).toBe("1 passed, 1 failed, 1 waiting");
  expect(verdict.ok).toBe(false);
});

it("fails on a row whose test failed, even while it waits", () => {
  const verdict = judge(new Map([["graphql:A2", "failed"]]), waits("graphql A1..A3"), "graphql");

  expect(verdict.lines).toContain("  failed: A2");
  expect(verdict.lines.at(-1)).toBe("0 passed, 1 failed, 2 waiting");
  expect(verdict.ok).toBe(false);
});

it("sums up all corpora when none is named, and keeps their waiting rows apart", () => {
  const verdict = judge(passed("[auth:AU-001] is refused"), waits("graphql A1..A3", "auth AU-002"));

  expect(verdict.lines.at(-1)).toBe("1 passed, 0 failed, 4 waiting");
  expect(verdict.ok).toBe(true);
});

it("fails on a row that passed and still waits", () => {
  const verdict = judge(passed("[graphql:A1] is refused"), waits("graphql A1..A3"), "graphql");

  expect(verdict.lines).toContain("error: graphql: passed, and still in spec/waiting.md: A1");
  expect(verdict.ok).toBe(false);
});

it.each([
  ["a row", "[graphql:A9] is refused", "graphql:A9"],
  ["a corpus", "[sql:A1] is refused", "sql:A1"],
])("fails on %s in a title that does not exist", (_, title, id) => {
  const verdict = judge(passed(title), waits("graphql A1..A3"), "graphql");

  expect(verdict.lines).toContain(`error: in a title or in spec/waiting.md, and in no table: ${id}`);
  expect(verdict.ok).toBe(false);
});

it("refuses a corpus that does not exist", () => {
  expect(() => judge(new Map(), "", "sql")).toThrow('there is no corpus "sql": graphql auth');
});
