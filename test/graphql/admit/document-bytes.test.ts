import { describe, expect, it } from "vitest";
import { Preparer, type PreparerOptions } from "../../../src/graphql/admit/preparer.ts";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { Limits } from "../../../src/graphql/limits/limits.ts";
import { fixtureSchema, refusedBy } from "../limits/fixture.ts";

const graph = fixtureSchema();

function preparerOf(options: Partial<PreparerOptions> = {}): Preparer {
  return new Preparer(graph, { limits: new Limits({ characters: null }), introspection: true, ...options });
}

function prepare(preparer: Preparer, source: string, name: string | null = null): void {
  preparer.prepare(preparer.choose(source, name));
}

/** Whether a document is cached. It counts as a use of the document. */
function isKept(preparer: Preparer, source: string, name: string | null = null): boolean {
  return preparer.choose(source, name).entry.prepared.size > 0;
}

/** The bytes that a document counts for: a cache keeps a new document that takes up to a fifth of its space. */
function bytesOf(source: string, name: string | null = null): number {
  let [low, high] = [0, 10_000_000];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const preparer = preparerOf({ cacheBytes: 5 * middle });
    prepare(preparer, source, name);
    if (isKept(preparer, source, name)) high = middle;
    else low = middle + 1;
  }
  return low;
}

describe("the memory that a cached document counts for", () => {
  const small = bytesOf("{ hello }");

  it("is a few kilobytes for a small document", () => {
    expect(small).toBeGreaterThan(5_000);
    expect(small).toBeLessThan(8_000);
  });

  it("grows with the length of the text", () => {
    expect(bytesOf(`{ hello }${" ".repeat(100)}`) - small).toBe(200);
    expect(bytesOf(`{ hello }${" ".repeat(20_000)}`) - small).toBe(40_000);
  });

  it("grows with the tokens, and with the fields of the operation, also in fragments that are spread twice", () => {
    const perToken = bytesOf("{ hello } #") - small - 2 * 2;
    const perField = bytesOf("{ hello hello }") - small - 2 * 6 - perToken;

    expect(perToken).toBeGreaterThan(300);
    expect(perToken).toBeLessThan(1_000);
    expect(perField).toBeGreaterThan(300);
    expect(perField).toBeLessThan(1_000);
    const spread = "query A { ...F } fragment F on Query { hello hello hello }";
    const twice = "query A { ...F ...F } fragment F on Query { hello hello hello }";
    expect(bytesOf(twice) - bytesOf(spread)).toBe(2 * 5 + 2 * perToken + 3 * perField);
  });

  it("is 32 MiB for all of them by default", () => {
    const preparer = preparerOf({ limits: new Limits({ characters: null, tokens: null }) });
    const large = (characters: number): string => `{ hello }${" ".repeat(characters)}`;
    const most = Math.floor((32 * 1024 * 1024) / 5 / 2) - 10_000;

    for (const source of [large(most), large(most + 20_000)]) prepare(preparer, source);

    expect([large(most), large(most + 20_000)].map((source) => isKept(preparer, source))).toEqual([true, false]);
  });
});

describe("a cached document", () => {
  const fill = (preparer: Preparer, count: number): void => {
    for (let index = 0; index < count; index++) prepare(preparer, `query Other${index} { hello }`);
  };

  it("that is in use stays when another of its operations is prepared", () => {
    const preparer = preparerOf({ cacheBytes: 100_000 });
    const source = "query A { hello } query B { hello }";
    prepare(preparer, source, "A");
    expect(isKept(preparer, source, "A")).toBe(true);
    prepare(preparer, source, "B");

    fill(preparer, 50);

    expect(isKept(preparer, source, "B")).toBe(true);
  });

  it("is not evicted by a document that cannot be cached", () => {
    const sources = Array.from({ length: 6 }, (_, index) => `query Kept${index} { hello }`);
    const preparer = preparerOf({ cacheBytes: 6 * bytesOf("query Kept0 { hello }") });
    for (const source of sources) prepare(preparer, source);
    const uncached = "#sha256 \n{ hello }";

    for (let times = 0; times < 9; times++) prepare(preparer, uncached);

    expect([uncached, sources[0] as string].map((source) => isKept(preparer, source))).toEqual([false, true]);
  });

  it("is found by its whole text, whether it is short or long", () => {
    const preparer = preparerOf();
    const padded = (characters: number, end: string): string => `{ hello }${" ".repeat(characters - 10)}${end}`;

    for (const length of [8_191, 8_192, 8_193, 20_000]) {
      prepare(preparer, padded(length, ","));
      expect([",", " "].map((end) => isKept(preparer, padded(length, end)))).toEqual([true, false]);
    }
  });

  it("is not taken for one with half of a surrogate pair, which is refused", () => {
    const preparer = preparerOf();
    const long = (character: string): string => `{ echo(s: "${character}") }${" ".repeat(10_000)}`;
    prepare(preparer, long("\ufffd"));

    expect(isKept(preparer, long("\ufffd"))).toBe(true);
    expect(refusedBy(() => prepare(preparer, long("\ud800")))).toMatch(/^400 GRAPHQL_PARSE_FAILED/);
  });

  it.skipIf(process.env["PORTICO_EXECUTOR"] === "graphql-js")("has one plan for each operation", () => {
    const source = "query A { hello } query B { hello }";
    const preparer = preparerOf();
    const planOf = (name: string): Plan | null => preparer.prepare(preparer.choose(source, name)).plan();

    expect(planOf("A")).toBeInstanceOf(Plan);
    expect(planOf("A")).toBe(planOf("A"));
    expect(planOf("A")).not.toBe(planOf("B"));
  });

  it("has no plan with the executor graphql-js", () => {
    const preparer = preparerOf({ executor: "graphql-js" });

    expect(preparer.prepare(preparer.choose("{ hello }", null)).plan()).toBeNull();
  });

  it("prints the cost of each execution", () => {
    const preparer = preparerOf();
    const { printCost } = preparer.prepare(preparer.choose("{ x: hello }", null));
    const printed = (cost: number): unknown => JSON.parse(printCost(cost));

    for (const cost of [1, 1, 2, 1])
      expect(printed(cost)).toEqual({ cost: { depth: 1, cost, aliases: 1, breadth: 1, fields: 1 } });
  });
});

describe("a document without the operation of the request", () => {
  it.each([
    ["fragment F on Query { hello }", null, "The document contains no operation"],
    ["query A { hello }", "B", "The document contains no operation with the name in operationName"],
    ["{ hello }", "B", "The document contains no operation with the name in operationName"],
    ["fragment F on Query { hello }", "F", "The document contains no operation with the name in operationName"],
    [
      "query A { hello } query B { hello }",
      null,
      "The document contains several operations. Set operationName to choose one.",
    ],
  ])("%s, %s: says why", (source, name, message) => {
    expect(refusedBy(() => preparerOf().choose(source, name))).toBe(`400 OPERATION_RESOLUTION_FAILURE: ${message}`);
    expect(() => preparerOf().choose(source, name)).toThrow(expect.objectContaining({ name: "GraphRefusal" }) as Error);
  });
});
