import { isEqual, isIn, isNull } from "portico";
import { describe, expect, it } from "vitest";
import { ALWAYS, allOf, anyOf, inverse, isCondition, NEVER } from "../../src/pagination/condition.ts";

const loose = { isEqual, isIn, isNull } as Readonly<Record<string, (...args: unknown[]) => unknown>>;
const calling =
  (name: string, ...args: unknown[]) =>
  () =>
    loose[name]?.(...args);

describe("isEqual, isIn and isNull", () => {
  it.each([
    ["undefined", undefined],
    ["NaN", Number.NaN],
    ["an invalid Date", new Date(Number.NaN)],
    ["an object", { id: 1 }],
    ["a list", [1]],
    ["function", () => 1],
    ["symbol", Symbol("x")],
  ])("reject %s as a value, and name the column", (label, value) => {
    const accepted = "requires a string, number, bigint, boolean, Date or null";

    expect(calling("isEqual", "owner_id", value)).toThrow(
      new TypeError(`isEqual("owner_id", ...) ${accepted}, received ${label}`),
    );
    expect(calling("isIn", "owner_id", [1, value])).toThrow(
      new TypeError(`isIn("owner_id", ...) ${accepted}, received ${label}`),
    );
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["string", "1, 2"],
    ["number", 1],
  ])("reject %s in place of a list", (label, values) => {
    expect(calling("isIn", "owner_id", values)).toThrow(
      new TypeError(`isIn("owner_id", ...) requires a list of values or { from, column, where }, received ${label}`),
    );
  });

  it.each([[""], [undefined], [null], [7], ["a\0b"], ["orders.id"], ["\n."]])("reject the column %j", (column) => {
    for (const [name, value] of [
      ["isEqual", 1],
      ["isIn", []],
      ["isNull", undefined],
    ] as const)
      expect(calling(name, column, value)).toThrow(
        `${name} requires the name of a column, without its table, received`,
      );
  });

  it("reject values of several types, which databases would convert", () => {
    expect(calling("isIn", "x", [1, "a"])).toThrow(
      'isIn("x", ...) requires values of one type, received number and string',
    );
    expect(() => isIn("x", [1, 2n, null])).not.toThrow();
  });

  it("reject related rows whose condition is missing or misspelled", () => {
    const rows = { from: "lines", column: "order_id" };

    expect(calling("isIn", "id", { ...rows, where: undefined })).toThrow(
      new TypeError('isIn("id", ...).where must be a condition, received undefined'),
    );
    expect(calling("isIn", "id", { ...rows, where: { "~condition": { kind: "always" } } })).toThrow(
      "received an object",
    );
    expect(calling("isIn", "id", { ...rows, were: isNull("x") })).toThrow(
      new TypeError('isIn("id", ...) has no option were'),
    );
    expect(calling("isIn", "id", { column: "order_id" })).toThrow('isIn("id", ...).from requires the name of a table');
    expect(calling("isIn", "id", { ...rows, from: "a.b.c" })).toThrow('with or without its schema, received "a.b.c"');
    expect(calling("isIn", "id", { from: "lines" })).toThrow('isIn("id", ...).column requires the name of a column');
  });

  it("treat null as a value of its own, and one value as an equality", () => {
    expect(isEqual("x", null)).toEqual(isNull("x"));
    expect(isIn("x", [null])).toEqual(isNull("x"));
    expect(isIn("x", [3, 3])).toEqual(isEqual("x", 3));
    expect(isIn("x", [3, null])).toEqual(anyOf([isEqual("x", 3), isNull("x")]));
    expect(isIn("x", [])).toEqual(NEVER);
  });

  it("do not change with a list that changes later", () => {
    const values = [1, 2];
    const condition = isIn("x", values);
    values.push(3);

    expect(condition).toEqual(isIn("x", [1, 2]));
  });
});

describe("combinations of conditions", () => {
  const one = isEqual("x", 1);
  const two = isEqual("x", 2);

  it("leave out constants that decide nothing, and end at those that do", () => {
    expect(allOf([])).toEqual(ALWAYS);
    expect(anyOf([])).toEqual(NEVER);
    expect(allOf([ALWAYS, one])).toEqual(one);
    expect(allOf([one, NEVER])).toEqual(NEVER);
    expect(anyOf([one, NEVER])).toEqual(one);
    expect(anyOf([one, ALWAYS])).toEqual(ALWAYS);
    expect(allOf([allOf([one, two]), one])).toEqual(allOf([one, two, one]));
    expect(isIn("id", { from: "lines", column: "order_id", where: isIn("x", []) })).toEqual(NEVER);
  });

  it("undo a double inverse", () => {
    expect(inverse(inverse(one))).toEqual(one);
    expect(inverse(ALWAYS)).toEqual(NEVER);
    expect(inverse(NEVER)).toEqual(ALWAYS);
  });

  it("are conditions, unlike a look-alike from a request body", () => {
    expect([one, ALWAYS, inverse(one), allOf([one, two])].every(isCondition)).toBe(true);
    expect(isCondition(JSON.parse(JSON.stringify(one)))).toBe(false);
    expect(isCondition(null)).toBe(false);
  });
});
