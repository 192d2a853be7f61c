import { describe, expect, it } from "vitest";
import { Limits } from "../../../src/graphql/limits/limits.ts";

describe("Limits", () => {
  it("has a value for each limit", () => {
    expect(Object.fromEntries(Object.entries(new Limits()))).toEqual({
      cost: 5000,
      depth: 15,
      aliases: 30,
      breadth: 100,
      fields: 1000,
      characters: 65_536,
      tokens: 2000,
      directives: 50,
      objects: 100_000,
      values: 50_000,
    });
  });

  it("disables a limit with null, and leaves the others unchanged", () => {
    expect(new Limits({ depth: null, tokens: undefined as never })).toMatchObject({
      depth: null,
      tokens: 2000,
      cost: 5000,
    });
  });

  it.each([
    [{ depth: 0 }, "Limits.depth must be a positive integer, or null, received 0"],
    [{ tokens: 1.5 }, "Limits.tokens must be a positive integer, or null"],
    [{ fields: "10" }, "Limits.fields must be a positive integer, or null"],
    [{ breadth: Number.POSITIVE_INFINITY }, "Limits.breadth must be a positive integer, or null"],
    [{ cost: -1 }, "Limits.cost must be a whole number, 0 or more, or null"],
    [{ aliases: Number.NaN }, "Limits.aliases must be a whole number, 0 or more, or null"],
    [{ directives: false }, "Limits.directives must be a whole number, 0 or more, or null"],
    [{ dept: 3 }, 'Limits: unknown option "dept". Did you mean "depth"?'],
  ])("rejects %j", (options, message) => {
    expect(() => new Limits(options as never)).toThrow(message);
  });

  it("can be created from a plain object or from Limits", () => {
    const limits = new Limits({ depth: 3 });

    expect(Limits.from(limits)).toBe(limits);
    expect(Limits.from({ depth: 3 })).toEqual(limits);
    expect(Limits.from()).toEqual(new Limits());
    expect(() => Limits.from(null as never)).toThrow("Limits options");
  });
});
