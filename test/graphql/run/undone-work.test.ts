import { Depend, HttpException, provide } from "portico";
import { field, mutation, schema, t } from "portico/graphql";
import { beforeEach, describe, expect, it } from "vitest";
import { ask } from "../ask.ts";

let outcomes: string[] = [];
beforeEach(() => {
  outcomes = [];
});

const unit = provide(async function* ({ ctx }) {
  try {
    yield 1;
  } finally {
    outcomes.push(ctx.outcome);
  }
});
const params = { unit: Depend(unit) };
const built = schema({
  query: {
    n: field(t.nullable(t.int), { params })(() => 1),
    fails: field(t.nullable(t.int))(() => {
      throw new HttpException(409, "Out of stock");
    }),
  },
  mutation: {
    n: mutation(t.nullable(t.int), { params })(() => 1),
    nothing: mutation(t.nullable(t.int), { params })(() => null),
    sure: mutation(t.int, { params })(() => 1),
    fails: mutation(t.nullable(t.int))(() => {
      throw new HttpException(409, "Out of stock");
    }),
  },
});

/** The data of an operation as JSON, and its errors with their paths and places. */
async function undone(source: string): Promise<readonly [data: string, ...errors: string[]]> {
  const { data, errors = [] } = await ask(built, source);
  const printed = errors.map(({ message, path, locations }) => {
    const places = locations?.map(({ line, column }) => `${line}:${column}`) ?? [];
    return `${path?.join(".")} at ${places.join()}: ${message}`;
  });
  return [JSON.stringify(data), ...printed];
}
const UNDONE = "The operation was rolled back";

describe("a mutation that was rolled back", () => {
  it("reports its fields as undone, in fragments and inline fragments too", async () => {
    const fragments = "fragment F on Mutation { b: n ...G } fragment G on Mutation { c: n ... { d: n } }";

    expect(await undone(`mutation { a: n ...F ... on Mutation { e: n ...F } __typename fails } ${fragments}`)).toEqual([
      '{"a":null,"b":null,"c":null,"d":null,"e":null,"__typename":"Mutation","fails":null}',
      "fails at 1:63: Out of stock",
      `a at 1:12: ${UNDONE}`,
      `b at 1:96: ${UNDONE}`,
      `c at 1:133: ${UNDONE}`,
      `d at 1:144: ${UNDONE}`,
      `e at 1:40: ${UNDONE}`,
    ]);
    expect(outcomes).toEqual(["failure"]);
  });

  it("reports the first place of a field that is selected twice", async () => {
    expect(await undone("mutation { n ... { n } fails n }")).toEqual([
      '{"n":null,"fails":null}',
      "fails at 1:24: Out of stock",
      `n at 1:12: ${UNDONE}`,
    ]);
  });

  it("reports a field that returned null, and one that did not run", async () => {
    expect(await undone("mutation { nothing fails again: fails }")).toEqual([
      '{"nothing":null,"fails":null,"again":null}',
      "fails at 1:20: Out of stock",
      `nothing at 1:12: ${UNDONE}`,
      `again at 1:26: ${UNDONE}`,
    ]);
  });

  it("has no data if one of its fields is non-null", async () => {
    expect(await undone("mutation { n fails x: sure }")).toEqual([
      "null",
      "fails at 1:14: Out of stock",
      `n at 1:12: ${UNDONE}`,
      `x at 1:20: ${UNDONE}`,
    ]);
  });

  it("has an error with a code and a status for each of its fields", async () => {
    const { errors = [] } = await ask(built, "mutation { n fails }");

    expect(errors[1]?.originalError).toMatchObject({ code: "ROLLED_BACK", status: 424, message: UNDONE });
  });
});

describe("the data stay", () => {
  it("in a query, which did nothing that could be undone", async () => {
    expect(await undone("{ n fails }")).toEqual(['{"n":1,"fails":null}', "fails at 1:5: Out of stock"]);
    expect(outcomes).toEqual(["failure"]);
  });

  it("if nothing could be rolled back, or nothing failed", async () => {
    expect(await undone("mutation { fails x: __typename }")).toEqual([
      '{"fails":null,"x":"Mutation"}',
      "fails at 1:12: Out of stock",
    ]);
    expect(await undone("mutation { n nothing sure }")).toEqual(['{"n":1,"nothing":null,"sure":1}']);
    expect(outcomes).toEqual(["success"]);
  });
});
