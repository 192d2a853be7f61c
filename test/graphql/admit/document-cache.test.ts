import { hash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DocumentCache } from "../../../src/graphql/admit/document-cache.ts";
import { Preparer } from "../../../src/graphql/admit/preparer.ts";
import { GraphRefusal } from "../../../src/graphql/errors/graph-refusal.ts";
import { Limits } from "../../../src/graphql/limits/limits.ts";
import { heapAfterCollection } from "../../heap-after-collection.ts";
import { fixtureSchema, refusedBy } from "../limits/fixture.ts";

describe("the cache of documents", () => {
  it("does not serve a long document to a client that sends its key as a document", () => {
    const preparer = new Preparer(fixtureSchema(), { limits: new Limits(), introspection: true });
    const long = `{ hello } ${"#".repeat(9_000)}`;
    preparer.prepare(preparer.choose(long, null));
    const key = `#sha256 ${hash("sha256", long, "base64")}`;

    expect(preparer.choose(long, null).entry).toBe(preparer.choose(long, null).entry);
    expect(() => preparer.choose(key, null)).toThrow(GraphRefusal);
  });

  it("forgets what was not asked for the longest", () => {
    const cache = new DocumentCache<number>(100);
    for (const at of [1, 2, 3, 4, 5]) cache.set(`${at}`, at, 20);
    cache.get("1");

    cache.set("6", 6, 20);

    expect(["1", "2", "3", "6"].map((key) => cache.get(key))).toEqual([1, undefined, 3, 6]);
    expect([cache.size, cache.bytes]).toEqual([5, 100]);
  });

  it("keeps what was asked for again, whatever number of new ones come", () => {
    const cache = new DocumentCache<string>(100);
    cache.set("used", "used", 20);
    cache.get("used");

    for (let at = 0; at < 1000; at++) cache.set(`new ${at}`, "new", 20);

    expect(cache.get("used")).toBe("used");
  });

  it("makes room among those in use by forgetting what was not asked for the longest", () => {
    const cache = new DocumentCache<string>(100);
    const use = (key: string): void => {
      if (cache.get(key) === undefined) cache.set(key, key, 20);
      cache.get(key);
    };
    for (const key of ["a", "b", "c", "d"]) use(key);
    for (let at = 0; at < 10; at++) for (const key of ["a", "c", "d"]) cache.get(key);

    use("e");
    for (let at = 0; at < 10; at++) cache.set(`new ${at}`, "new", 20);

    expect(["a", "b", "c", "d", "e"].filter((key) => cache.get(key) === undefined)).toEqual(["b"]);
  });

  it("does not keep what would drive out all else, and replaces what it has", () => {
    const cache = new DocumentCache<string>(100);
    cache.set("a", "a", 10);
    cache.set("big", "big", 21);
    cache.set("a", "b", 15);

    expect([cache.get("big"), cache.get("a"), cache.bytes]).toEqual([undefined, "b", 15]);
  });

  it("never holds more than it may, nor loses count", () => {
    const step = fc.record({
      key: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
      bytes: fc.integer({ min: 0, max: 30 }),
      isRead: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const cache = new DocumentCache<number>(100);
        const given = new Map<string, number>();
        for (const { key, bytes, isRead } of steps) {
          const found = cache.get(key);
          expect([undefined, given.get(key)]).toContain(found);
          if (isRead) continue;
          cache.set(key, bytes, bytes);
          if (bytes <= 20) given.set(key, bytes);
          expect(cache.bytes).toBeLessThanOrEqual(100);
        }
        const held = [...given.keys()].map((key) => cache.get(key)).filter((bytes) => bytes !== undefined);
        expect([cache.size, cache.bytes]).toEqual([held.length, held.reduce((sum, bytes) => sum + bytes, 0)]);
      }),
    );
  });

  it("bounds the memory of a process that is sent one new document after another", async () => {
    const count = process.env["PORTICO_LONG"] === undefined ? 1200 : 100_000;
    const preparer = new Preparer(fixtureSchema(), {
      limits: new Limits(),
      introspection: true,
      cacheBytes: 2 * 1024 * 1024,
    });
    const send = (from: number, to: number): void => {
      for (let at = from; at < to; at++) {
        preparer.prepare(preparer.choose(`query Q${at} { a { id a { id } } h${at}: hello }`, null));
        refusedBy(() => preparer.prepare(preparer.choose(`query Q${at} { unknown${at} }`, null)));
      }
    };
    send(0, 900);
    const before = await heapAfterCollection();

    send(900, 900 + count);

    expect(((await heapAfterCollection()) - before) / 1024 / 1024).toBeLessThan(2);
  }, 200_000);

  it.skipIf(process.env["PORTICO_EXECUTOR"] === "graphql-js")(
    "takes about as much memory as it is allowed",
    async () => {
      const schema = fixtureSchema();
      let preparer: Preparer | null = new Preparer(schema, {
        limits: new Limits(),
        introspection: true,
        cacheBytes: 6 * 1024 * 1024,
      });
      for (let at = 0; at < 1500; at++) {
        const text = `query Q${at} { a { id a { id } } h${at}: hello list(first: 3) { id } }`;
        const plan = preparer.prepare(preparer.choose(text, null)).plan();
        void plan?.execute({ rootValue: undefined, contextValue: undefined, variables: {}, mostObjects: 10 });
      }

      // What it frees, not what filling it added: meanwhile, other tests of the process leave memory too.
      const full = await heapAfterCollection();
      expect(preparer.prepare(preparer.choose("{ hello }", null))).toBeDefined();
      preparer = null;
      const megabytes = (full - (await heapAfterCollection())) / 1024 / 1024;
      expect(megabytes).toBeGreaterThan(4);
      expect(megabytes).toBeLessThan(8);
    },
  );
});
