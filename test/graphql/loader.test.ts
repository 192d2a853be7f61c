import { Depend, provide } from "portico";
import { field, loader, type ObjectType, object, schema, t } from "portico/graphql";
import { expect, it, vi } from "vitest";
import { ask, data, httpContext } from "./ask.ts";

interface BookRow {
  readonly id: number;
}

function shop(size: number): { readonly built: ReturnType<typeof schema>; readonly calls: ReturnType<typeof vi.fn> } {
  const calls = vi.fn<(keys: readonly number[]) => void>();
  const authors = loader(async (ids: readonly number[]) => {
    calls(ids);
    return ids.map((id) => `author ${id}`);
  });
  const Book: ObjectType<BookRow> = object("Book", {
    author: field(t.string)(({ ctx, parent }) => authors.load(ctx, parent.id)),
    later: field(t.string)(async ({ ctx, parent }) => {
      for (let tick = 0; tick < parent.id % 7; tick++) await Promise.resolve();
      return authors.load(ctx, parent.id);
    }),
  });
  const books = Array.from({ length: size }, (_, id) => ({ id }));
  return { built: schema({ query: { books: field(t.list(Book))(() => books) } }), calls };
}

it("[RES-48] batches the keys of one operation into one call", async () => {
  const { built, calls } = shop(10);

  const { books } = await data(built, "{ books { author } }");

  expect(books).toEqual(Array.from({ length: 10 }, (_, id) => ({ author: `author ${id}` })));
  expect(calls.mock.calls).toEqual([[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]]);
});

it("[RES-48] costs one call for a thousand parents, including those that load a little later", async () => {
  const { built, calls } = shop(1000);

  await data(built, "{ books { later } }");

  expect(calls).toHaveBeenCalledOnce();
  expect(calls.mock.calls[0]?.[0]).toHaveLength(1000);
});

it("[RES-49] shares nothing between operations", async () => {
  const { built, calls } = shop(2);

  await data(built, "{ books { author } }");
  await data(built, "{ books { author } }");

  expect(calls.mock.calls).toEqual([[[0, 1]], [[0, 1]]]);
});

it("fails only the key whose value is an Error", async () => {
  const ages = loader((names: readonly string[]) =>
    names.map((name) => (name === "nobody" ? new Error("who?") : name.length)),
  );
  const age = field(t.nullable(t.int), { params: { name: t.string } })(({ ctx, name }) => ages.load(ctx, name));

  const result = await ask(schema({ query: { age } }), '{ a: age(name: "ada") b: age(name: "nobody") }');

  expect(result.data).toEqual({ a: 3, b: null });
  expect(result.errors?.map(({ message }) => message)).toEqual(["who?"]);
});

it("fails all keys if the batch function throws or returns another number of values", async () => {
  const ctx = httpContext();
  const throwing = loader((_keys: readonly number[]) => {
    throw new Error("away");
  });
  const short = loader((_keys: readonly number[]) => [1]);

  await expect(Promise.allSettled([throwing.load(ctx, 1), throwing.load(ctx, 2)])).resolves.toMatchObject([
    { reason: { message: "away" } },
    { reason: { message: "away" } },
  ]);
  await expect(Promise.all([short.load(ctx, 1), short.load(ctx, 2)])).rejects.toThrow(
    "the batch function of a loader must return one value for each of its 2 keys, received 1",
  );
});

it("clears a key, or all of them", async () => {
  const calls = vi.fn<(keys: readonly number[], given: object) => number[]>((keys) => [...keys]);
  const numbers = loader(calls);
  const ctx = httpContext();

  await Promise.all([numbers.load(ctx, 1), numbers.load(ctx, 2), numbers.load(ctx, 1)]);
  numbers.clear(ctx, 1);
  await Promise.all([numbers.load(ctx, 1), numbers.load(ctx, 2)]);
  numbers.clear(ctx);
  await Promise.all([numbers.load(ctx, 1), numbers.load(ctx, 2)]);

  expect(calls.mock.calls).toEqual([
    [[1, 2], { ctx }],
    [[1], { ctx }],
    [[1, 2], { ctx }],
  ]);
});

it("can be the value of a dependency, and so use other dependencies", async () => {
  const database = (): { names(ids: readonly string[]): string[] } => ({
    names: (ids) => ids.map((id) => `name ${id}`),
  });
  const names = provide({ db: Depend(database) })(({ db }) => loader((ids: readonly string[]) => db.names(ids)));
  const name = field(t.string, { params: { id: t.id, names: Depend(names) } })(({ id, names, ctx }) =>
    names.load(ctx, id),
  );

  expect(await data(schema({ query: { name } }), "{ a: name(id: 1) b: name(id: 2) }")).toEqual({
    a: "name 1",
    b: "name 2",
  });
});

it("rejects a batch that is not a function", () => {
  expect(() => loader(undefined as never)).toThrow("loader must be called with a batch function");
});

it.each([
  ["the key in its place", ["7"], "string"],
  ["undefined", [undefined, "7"], "undefined"],
  ["null", [null, "7"], "null"],
])("reports the missing context if it receives %s", (_, given, received) => {
  const authors = loader((ids: readonly string[]) => ids);
  const sentence = `the first argument of a loader must be the context of the resolver, load(ctx, key), received ${received}`;

  expect(() => authors.load(...(given as unknown as Parameters<typeof authors.load>))).toThrow(new TypeError(sentence));
  expect(() => authors.clear(...(given as unknown as Parameters<typeof authors.load>))).toThrow(TypeError);
});
