import { column, exists, isEqual, isIn, isInRange, isNotNull, isNull, startsWith } from "portico";
import { describe, expect, it } from "vitest";
import { ALWAYS, allOf, anyOf, inverse, isCondition, NEVER } from "../../../src/pagination/conditions/condition.ts";

const loose = { column, exists, isEqual, isIn, isInRange, isNotNull, isNull, startsWith } as Readonly<
  Record<string, (...args: unknown[]) => unknown>
>;
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
      ["isNotNull", undefined],
      ["isInRange", { lt: 1 }],
      ["startsWith", "a"],
      ["column", undefined],
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

describe("isInRange", () => {
  it.each<[string, unknown, string]>([
    ["a number in place of bounds", 5, "requires bounds such as { gte: 1, lt: 5 }, received number"],
    ["null", null, "requires bounds such as { gte: 1, lt: 5 }, received null"],
    ["no bound", {}, "requires at least one bound"],
    ["a misspelt bound", { min: 1 }, 'isInRange("price", ...) has no bound min: the bounds are gt, gte, lt and lte'],
    ["two lower bounds", { gt: 1, gte: 2 }, "has both gt and gte: keep one of them"],
    ["two upper bounds", { lt: 1, lte: 2 }, "has both lt and lte: keep one of them"],
    [
      "a missing bound",
      { gte: 1, lt: undefined },
      'isInRange("price", ...).lt must be a finite number, bigint, Date or column(...), received undefined',
    ],
    ["null as a bound", { lt: null }, "received null"],
    ["NaN", { lt: Number.NaN }, "received NaN"],
    ["infinity", { lt: Number.POSITIVE_INFINITY }, "received infinity"],
    ["an invalid Date", { lt: new Date(Number.NaN) }, "received an invalid Date"],
    ["a text, which collations order differently", { gte: "a" }, "received string"],
  ])("rejects %s", (_what, bounds, message) => {
    expect(calling("isInRange", "price", bounds)).toThrow(TypeError);
    expect(calling("isInRange", "price", bounds)).toThrow(message);
  });

  it("is one comparison for each bound", () => {
    const range = isInRange("price", { gte: 1, lt: column("limit") });

    expect(range).toEqual(allOf([isInRange("price", { gte: 1 }), isInRange("price", { lt: column("limit") })]));
  });
});

describe("startsWith", () => {
  it.each<[string, unknown, string]>([
    ["nothing", undefined, 'startsWith("path", ...) requires a text, received undefined'],
    ["an empty text", "", 'startsWith("path", ...) requires a text that is not empty'],
    ["half of a character", "a\ud83d", 'startsWith("path", ...) requires whole characters'],
  ])("rejects %s", (_what, text, message) => {
    expect(calling("startsWith", "path", text)).toThrow(new RegExp(`^${message.replace(/[()."]/g, "\\$&")}`));
  });
});

describe("exists", () => {
  it.each<[string, unknown, string]>([
    ["nothing", undefined, "exists requires { from, on, where }, received undefined"],
    ["no table", {}, "exists.from requires the name of a table"],
    [
      "missing columns",
      { from: "a", on: undefined },
      'exists.on must be columns by name, such as { project_id: "id" }, received undefined',
    ],
    ["a list of columns", { from: "a", on: ["id"] }, "received a list"],
    ["a column that is missing", { from: "a", on: { id: undefined } }, "exists.on.id requires the name of a column"],
    [
      "a column with its table",
      { from: "a", on: { "a.id": "id" } },
      'exists.on requires the name of a column, without its table, received "a.id"',
    ],
    ["a missing condition", { from: "a", where: undefined }, "exists.where must be a condition, received undefined"],
    ["another option", { from: "a", column: "id" }, "exists has no option column"],
  ])("rejects %s", (_what, row, message) => {
    expect(calling("exists", row)).toThrow(TypeError);
    expect(calling("exists", row)).toThrow(message);
  });

  it("is the lookup of isIn for one column, and nothing for no row", () => {
    const where = isEqual("user_id", "ann");

    expect(exists({ from: "members", on: { project_id: "id" }, where })).toEqual(
      isIn("id", { from: "members", column: "project_id", where }),
    );
    expect(exists({ from: "members", on: { project_id: "id" }, where: NEVER })).toEqual(NEVER);
  });
});

describe("isNotNull", () => {
  it("is the opposite of isNull", () => {
    expect(isNotNull("x")).toEqual(inverse(isNull("x")));
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
