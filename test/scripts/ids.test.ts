import { describe, expect, it } from "vitest";
import { expandIds, foldIds } from "../../scripts/spec/ids.ts";

const known = ["RES-01", "RES-02", "RES-03", "FLD-01", "A9", "A10", "A11"];

describe("expandIds", () => {
  it.each([
    ["RES-02", ["RES-02"]],
    ["RES-01..RES-03", ["RES-01", "RES-02", "RES-03"]],
    ["A9..A11", ["A9", "A10", "A11"]],
  ])("reads %s", (text, ids) => {
    expect(expandIds(text, known)).toEqual(ids);
  });

  it("takes a range by number, wherever its ids stand in the file", () => {
    expect(expandIds("A1..A3", ["A1", "A3", "B1", "A2"])).toEqual(["A1", "A3", "A2"]);
  });

  it.each(["RES-01..RES-99", "RES-03..RES-01", "RES-01..FLD-01", "RES-01..", "RES-01..RES-02..RES-03"])(
    "refuses the range %s",
    (text) => {
      expect(() => expandIds(text, known)).toThrow(`"${text}" is not a range of known ids`);
    },
  );
});

describe("foldIds", () => {
  it("writes runs of three and more as a range", () => {
    expect(foldIds(["RES-01", "RES-02", "RES-03", "RES-05", "RES-06", "FLD-07"])).toBe(
      "RES-01..RES-03, RES-05, RES-06, FLD-07",
    );
  });

  it("counts across the number of digits", () => {
    expect(foldIds(["A9", "A10", "A11"])).toBe("A9..A11");
  });
});
