import { expect, it } from "vitest";
import { type ClausesInput, judgeClauses } from "../../scripts/clauses.ts";
import { outcomes } from "../../scripts/spec/report.ts";
import type { Verdict } from "../../scripts/spec/verdict.ts";

const clauses = `# Clauses

## Resolvers

| id | what must hold | seen by |
|---|---|---|
| RES-01 | One. | a \\| b |
| RES-02 | Two. | it |
| RES-03 | Three. | it |

Also: FLD-01.

## Field options

| id | what must hold | seen by |
|---|---|---|
| FLD-01 | One. | it |
`;

const waits = (...ids: string[]): string =>
  ["| id | waits for |", "|---|---|", ...ids.map((id) => `| ${id} | Endpoint |`)].join("\n");

const judge = (titles: string[], input: Partial<ClausesInput> = {}): Verdict =>
  judgeClauses({
    clauses,
    waiting: waits(),
    outcomes: outcomes(titles.map((title) => ({ title, status: "passed" }))),
    chapters: [],
    ...input,
  });

it("lists the clauses without a proof by chapter and ends with the count", () => {
  const verdict = judge(["[RES-02] holds"], { waiting: waits("RES-01") });

  expect(verdict.lines).toEqual([
    "Resolvers (RES): 1 of 3 proved",
    "  waits for Endpoint: RES-01",
    "  no test: RES-03",
    "Field options (FLD): 0 of 1 proved",
    "  no test: FLD-01",
    "1 of 4 clauses proved",
  ]);
  expect(verdict.ok).toBe(true);
});

it("looks at the chapters that are named alone, and fails on a clause that is neither proved nor waiting", () => {
  const verdict = judge(["[RES-02] holds"], { waiting: waits("RES-01"), chapters: ["RES"] });

  expect(verdict.lines).toContain("error: neither proved nor in spec/waiting.md: RES-03");
  expect(verdict.lines.at(-1)).toBe("1 of 3 clauses proved");
  expect(verdict.ok).toBe(false);
});

it("succeeds when every clause of the chapter is proved or waits", () => {
  const verdict = judge(["[RES-02] [RES-03] holds"], { waiting: waits("RES-01"), chapters: ["RES"] });

  expect(verdict.ok).toBe(true);
});

it("judges every chapter when asked for all", () => {
  expect(judge(["[RES-01] [RES-02] [RES-03] holds"], { all: true }).ok).toBe(false);
  expect(judge(["[RES-01] [RES-02] [RES-03] [FLD-01] holds"], { all: true }).ok).toBe(true);
});

it("counts a clause as failed when one of its tests failed", () => {
  const verdict = judgeClauses({
    clauses,
    waiting: waits("RES-01..RES-02"),
    outcomes: new Map([["RES-03", "failed"]]),
    chapters: ["RES"],
  });

  expect(verdict.lines).toContain("  failed: RES-03");
  expect(verdict.lines.at(-1)).toBe("0 of 3 clauses proved");
  expect(verdict.ok).toBe(false);
});

it("does not count a waiting clause as proved", () => {
  expect(judge([], { waiting: waits("RES-01..RES-03") }).lines.at(-1)).toBe("0 of 4 clauses proved");
});

it("fails on a clause that is proved and still waits", () => {
  const verdict = judge(["[RES-02] holds"], { waiting: waits("RES-01..RES-03") });

  expect(verdict.lines).toContain("error: proved, and still in spec/waiting.md: RES-02");
  expect(verdict.ok).toBe(false);
});

it("fails on an id in a title that is in no table", () => {
  const verdict = judge(["[RES-99] holds"]);

  expect(verdict.lines).toContain("error: in a test's title, and in no table: RES-99");
  expect(verdict.ok).toBe(false);
});

it("refuses a chapter that does not exist", () => {
  expect(() => judge([], { chapters: ["XYZ"] })).toThrow("there is no chapter XYZ: RES FLD");
});

it.each([
  ["an unknown id", waits("RES-99"), '"RES-99" is in no table'],
  ["an id twice", waits("RES-01..RES-02", "RES-02"), '"RES-02" waits twice'],
])("refuses %s in spec/waiting.md", (_, waiting, message) => {
  expect(() => judge([], { waiting })).toThrow(message);
});
