import { describe, expect, it } from "vitest";
import { idsInTitle, outcomes, readReport } from "../../scripts/spec/report.ts";

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
