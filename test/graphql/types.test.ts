import { parse, validate } from "graphql";
import { ConfigurationError } from "portico";
import {
  field,
  type InOf,
  type InputType,
  type InterfaceType,
  type ObjectType,
  object,
  printSchema,
  ResolverError,
  schema,
  t,
} from "portico/graphql";
import { describe, expect, it, vi } from "vitest";
import { ask, data, introspectTypes } from "./ask.ts";

interface AuthorRow {
  readonly id: string;
  readonly name: string;
}
interface BookRow {
  readonly id: string;
  readonly title: string;
}
const eliot: AuthorRow = { id: "1", name: "George Eliot" };
const middlemarch: BookRow = { id: "2", title: "Middlemarch" };

describe("a type", () => {
  it("[RES-17] can be given directly", () => {
    const Author: ObjectType<AuthorRow> = object("Author", { id: t.id });

    expect(printSchema(schema({ query: { author: field(Author)(() => eliot) } }))).toContain("author: Author!");
  });

  it("[RES-18] can be given as a thunk, so that two types can refer to each other", async () => {
    const Book: ObjectType<BookRow> = object("Book", { title: t.string, author: field(() => Author)(() => eliot) });
    const Author: ObjectType<AuthorRow> = object("Author", {
      name: t.string,
      books: field(t.list(() => Book))(() => [middlemarch]),
    });
    const built = schema({ query: { book: field(Book)(() => middlemarch) } });

    expect(printSchema(built)).toContain("author: Author!");
    expect(printSchema(built)).toContain("books: [Book!]!");
    expect(await data(built, "{ book { author { books { title } } } }")).toEqual({
      book: { author: { books: [{ title: "Middlemarch" }] } },
    });
  });

  it("[RES-19] can be given by its name, wherever it is declared", async () => {
    const Author: ObjectType<AuthorRow> = object("Author", { name: t.string });
    const query = {
      one: field(t.ref<AuthorRow>("Author"))(() => eliot),
      many: field(t.list(t.ref<AuthorRow>("Author")))(() => [eliot]),
    };
    const built = schema({ query, types: [Author] });

    expect(printSchema(built)).toContain("one: Author!");
    expect(printSchema(built)).toContain("many: [Author!]!");
    expect(await data(built, "{ one { name } many { name } }")).toEqual({
      one: { name: "George Eliot" },
      many: [{ name: "George Eliot" }],
    });
  });

  it("[RES-46] can be a list of lists", async () => {
    const built = schema({ query: { grid: field(t.list(t.list(t.int)))(() => [[1, 2], [3]]) } });

    expect(printSchema(built)).toContain("grid: [[Int!]!]!");
    expect(await data(built, "{ grid }")).toEqual({ grid: [[1, 2], [3]] });
  });

  it("exposes a property of its parent, with a description and a gate but without a resolver", async () => {
    const Book: ObjectType<BookRow> = object("Book", {
      id: t.id,
      title: field(t.string, { description: "As on the cover.", deprecationReason: "Use label." }),
      label: field(t.string, { name: "label" })(({ parent }) => parent.title),
    });
    const built = schema({ query: { book: field(Book)(() => middlemarch) } });

    expect(built.getType("Book")).toMatchObject({ name: "Book" });
    expect(printSchema(built)).toContain('"""As on the cover."""\n  title: String! @deprecated(reason: "Use label.")');
    expect(await data(built, "{ book { title label } }")).toEqual({
      book: { title: "Middlemarch", label: "Middlemarch" },
    });
  });
});

describe("[RES-38] an interface", () => {
  const Node: InterfaceType<{ readonly id: string }> = t.interface(
    "Node",
    { id: t.id, url: field(t.string)(({ parent }) => `/${parent.id}`) },
    { resolveType: (row) => ("title" in row ? "Book" : "Author"), description: "What has an id." },
  );
  const Book: ObjectType<BookRow> = object("Book", { title: t.string }, { implements: [Node] });
  const Author: ObjectType<AuthorRow> = object(
    "Author",
    { name: t.string, id: field(t.id)(({ parent }) => `author-${parent.id}`) },
    { implements: [Node] },
  );
  const built = schema({ query: { nodes: field(t.list(Node))(() => [eliot, middlemarch]) }, types: [Book, Author] });

  it("[RES-38] is implemented by two objects, which inherit the fields that they do not declare", async () => {
    expect(printSchema(built)).toContain(
      "type Author implements Node {\n  id: ID!\n  name: String!\n  url: String!\n}",
    );
    expect(printSchema(built)).toContain("type Book implements Node {\n  id: ID!\n  title: String!\n  url: String!\n}");
    expect(await data(built, "{ nodes { __typename id url ... on Book { title } } }")).toEqual({
      nodes: [
        { __typename: "Author", id: "author-1", url: "/1" },
        { __typename: "Book", id: "2", url: "/2", title: "Middlemarch" },
      ],
    });
  });

  it("can implement another interface", () => {
    const Named: InterfaceType<AuthorRow> = t.interface(
      "Named",
      { name: t.string },
      { implements: [Node], resolveType: () => "Author" },
    );
    const Person: ObjectType<AuthorRow> = object("Person", {}, { implements: [Named] });

    expect(printSchema(schema({ query: { person: field(Person)(() => eliot) } }))).toContain(
      "type Person implements Named & Node {\n  id: ID!\n  name: String!\n  url: String!\n}",
    );
  });
});

describe("[RES-39] a union", () => {
  const Book: ObjectType<BookRow> = object("Book", { title: t.string });
  const Author: ObjectType<AuthorRow> = object("Author", { name: t.string });

  it("[RES-39] picks the member by resolveType", async () => {
    const Hit = t.union("Hit", [Book, Author], { resolveType: (hit) => ("title" in hit ? "Book" : "Author") });
    const built = schema({ query: { hits: field(t.list(Hit))(() => [eliot, middlemarch]) } });

    expect(printSchema(built)).toContain("union Hit = Author | Book");
    expect(await data(built, "{ hits { __typename ... on Author { name } ... on Book { title } } }")).toEqual({
      hits: [
        { __typename: "Author", name: "George Eliot" },
        { __typename: "Book", title: "Middlemarch" },
      ],
    });
  });

  it("picks the member by its class", async () => {
    class Cat {
      readonly lives = 9;
    }
    class Lion extends Cat {
      readonly mane = true;
    }
    const CatType = object("Cat", { lives: t.int }, { model: Cat });
    const LionType = object("Lion", { mane: t.boolean }, { model: Lion });
    const built = schema({
      query: { cats: field(t.list(t.union("AnyCat", [CatType, LionType])))(() => [new Lion(), new Cat()]) },
    });

    expect(await data(built, "{ cats { __typename } }")).toEqual({
      cats: [{ __typename: "Lion" }, { __typename: "Cat" }],
    });
  });

  it("is rejected if the type of a value could not be determined", () => {
    const Hit = t.union("Hit", [Book, Author]);

    expect(() => schema({ query: { hits: field(t.list(Hit))(() => []) } })).toThrow(
      "Hit: cannot determine whether a value is a Book. Set resolveType, or set model on Book",
    );
  });
});

describe("[RES-40] an enum", () => {
  const Genre = t.enum("Genre", ["novel", "poetry"]);
  const built = schema({
    query: {
      same: field(Genre, { params: { genre: Genre("novel"), other: t.nullable(Genre) } })(
        ({ genre, other }) => other ?? genre,
      ),
    },
  });

  it("[RES-40] works as an argument and as a result, and rejects other values", async () => {
    expect(printSchema(built)).toContain("enum Genre {\n  novel\n  poetry\n}");
    expect(printSchema(built)).toContain("same(genre: Genre! = novel, other: Genre): Genre!");
    expect(await data(built, "{ same other: same(genre: poetry) }")).toEqual({ same: "novel", other: "poetry" });
    expect((await ask(built, "{ same(genre: cookery) }")).errors?.[0]?.message).toContain("cookery");
  });

  it("rejects an empty list and duplicate values", () => {
    expect(() => t.enum("Empty", [])).toThrow(ResolverError);
    expect(() => t.enum("Twice", ["a", "a"])).toThrow("t.enum Twice: declares the value a twice");
    expect(() => t.enum("Bad", ["a b"])).toThrow('received "a b"');
  });
});

describe("[RES-41] an input object", () => {
  const Range = t.input("Range", { from: t.int(0), to: t.nullable(t.int) });
  interface FilterInput {
    readonly text: string;
    readonly and: readonly FilterInput[] | null;
  }
  const Filter: InputType<FilterInput> = t.input("Filter", {
    text: t.string,
    range: t.nullable(Range),
    ranges: t.arg(t.list(Range), { default: [] }),
    and: t.nullable(t.list(() => Filter)),
  });
  const seen = vi.fn<(filter: unknown) => void>();
  const built = schema({
    query: {
      find: field(t.boolean, { params: { filter: Filter } })(({ filter }) => {
        seen(filter);
        return true;
      }),
    },
  });

  it("[RES-41] appears in the schema, and the resolver receives its fields", async () => {
    expect(printSchema(built)).toContain(
      "input Filter {\n  and: [Filter!]\n  range: Range\n  ranges: [Range!]! = []\n  text: String!\n}",
    );

    await data(built, '{ find(filter: { text: "x", range: { from: 1 }, and: [{ text: "y" }] }) }');

    expect(seen).toHaveBeenLastCalledWith({
      text: "x",
      range: { from: 1, to: null },
      ranges: [],
      and: [{ text: "y", range: null, ranges: [], and: null }],
    });
  });

  it("can be sent as a variable", async () => {
    await data(built, "query ($f: Filter!) { find(filter: $f) }", {
      variables: { f: { text: "x", ranges: [{ to: 2 }] } },
    });

    expect(seen).toHaveBeenLastCalledWith({ text: "x", range: null, ranges: [{ from: 0, to: 2 }], and: null });
  });

  it("has the type InOf", () => {
    const range: InOf<typeof Range> = { from: 1, to: null };

    expect(range.to).toBeNull();
  });

  it("is rejected with the name of an invalid field", () => {
    expect(() => t.input("In", { a: undefined as never })).toThrow("t.input In.a: has no type");
    expect(() => t.input("In", { a: t.arg(t.int, { name: "b" }) })).toThrow(
      "t.input In.a: must not set name: an input field is named after its key",
    );
    expect(() => t.input("In", { a: t.int }, { desc: "" } as never)).toThrow(ConfigurationError);
  });
});

it("[RES-42] accepts exactly one field of a oneOf input", async () => {
  const Inner = t.input("Inner", { n: t.nullable(t.int) });
  const Key = t.oneOf("Key", { id: t.id, slug: t.string, inner: Inner });
  const built = schema({ query: { get: field(t.json, { params: { by: Key } })(({ by }) => by) } });
  const variables = (by: object): { variables: Record<string, unknown> } => ({ variables: { by } });

  expect(printSchema(built)).toContain("input Key @oneOf {\n  id: ID\n  inner: Inner\n  slug: String\n}");
  expect(await data(built, '{ get(by: { id: "7" }) }')).toEqual({ get: { id: "7" } });
  expect(await data(built, "{ get(by: { inner: {} }) }")).toEqual({ get: { inner: { n: null } } });
  expect((await ask(built, '{ get(by: { id: "7", slug: "x" }) }')).errors).toHaveLength(1);
  expect(
    (await ask(built, "query ($by: Key!) { get(by: $by) }", variables({ id: "7", slug: "x" }))).errors,
  ).toHaveLength(1);
  expect((await ask(built, "query ($by: Key!) { get(by: $by) }", variables({}))).errors).toHaveLength(1);
  expect((await ask(built, "query ($by: Key!) { get(by: $by) }", variables({ id: null }))).errors).toHaveLength(1);
  expect(() => t.oneOf("Bad", { a: t.nullable(t.int) })).toThrow(ResolverError);
});

describe("[RES-43] a scalar", () => {
  const Money = t.scalar<bigint>("Money", {
    serialize: String,
    parse: (value) => {
      if (typeof value !== "string") throw new TypeError("Money takes a text");
      return BigInt(value);
    },
    description: "Cents.",
    specifiedByUrl: "https://shop.example/money",
  });
  const at = new Date("2026-11-14T09:30:00.000Z");
  const built = schema({
    query: {
      money: field(Money, { params: { price: Money(5n) } })(({ price }) => price * 2n),
      later: field(t.dateTime, { params: { at: t.dateTime } })(({ at }) => new Date(at.getTime() + 1000)),
      json: field(t.json, { params: { value: t.json } })(({ value }) => value),
      upload: field(t.string, { params: { file: t.upload } })(({ file }) => `${file.filename} ${file.size}`),
      broken: field(t.dateTime)(() => new Date(Number.NaN)),
    },
  });

  it("ID accepts integers from resolvers and clients, and is always a string for the other side", async () => {
    const Row: ObjectType<{ readonly id: number }> = object("Row", { id: t.id });
    const built = schema({
      query: {
        row: field(Row, { params: { id: t.id } })(({ id }) => ({ id: Number(id) })),
        kind: field(t.string, { params: { id: t.id } })(({ id }) => typeof id),
        computed: field(t.list(t.id))(() => [7, "x-8"]),
        half: field(t.nullable(t.id))(() => 1.5),
      },
    });

    expect(await data(built, "{ row(id: 3) { id } kind(id: 3) computed }")).toEqual({
      row: { id: "3" },
      kind: "string",
      computed: ["7", "x-8"],
    });
    expect(await ask(built, "{ half }")).toMatchObject({ data: { half: null }, errors: [{ path: ["half"] }] });
  });

  it("[RES-43] can be custom, and is parsed and serialized", async () => {
    expect(printSchema(built)).toContain('"""Cents."""\nscalar Money @specifiedBy(url: "https://shop.example/money")');
    expect(printSchema(built)).toContain('money(price: Money! = "5"): Money!');
    expect(await data(built, '{ money x: money(price: "21") }')).toEqual({ money: "10", x: "42" });
    expect(await data(built, "query ($p: Money!) { money(price: $p) }", { variables: { p: "4" } })).toEqual({
      money: "8",
    });
    expect((await ask(built, "{ money(price: 4) }")).errors?.[0]?.message).toContain("Money takes a text");
  });

  it("[RES-43] DateTime is parsed and serialized", async () => {
    expect(printSchema(built)).toContain("scalar DateTime");
    expect(await data(built, `{ later(at: "${at.toISOString()}") }`)).toEqual({ later: "2026-11-14T09:30:01.000Z" });
    expect(await data(built, '{ later(at: "2026-11-14T10:30:00+01:00") }')).toEqual({
      later: "2026-11-14T09:30:01.000Z",
    });
    expect((await ask(built, "{ broken }")).errors?.[0]?.message).toBe(
      "DateTime cannot represent the value that the resolver returned: an invalid Date",
    );
  });

  it.each(["2026-11-14", "2026-11-14T09:30:00", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "yesterday", ""])(
    "DateTime rejects %j",
    async (text) => {
      expect(
        (await ask(built, "query ($at: DateTime!) { later(at: $at) }", { variables: { at: text } })).errors?.[0]
          ?.message,
      ).toContain("DateTime must be RFC 3339 text");
    },
  );

  it("[RES-43] JSON is parsed and serialized", async () => {
    const value = { a: [1, "b", null, { c: true }] };

    expect(await data(built, '{ json(value: { a: [1, "b", null, { c: true }] }) }')).toEqual({ json: value });
    expect(await data(built, "query ($v: JSON!) { json(value: $v) }", { variables: { v: value } })).toEqual({
      json: value,
    });
    expect(await data(built, "query ($v: JSON!) { json(value: { a: $v }) }", { variables: { v: [1] } })).toEqual({
      json: { a: [1] },
    });
  });

  it("[RES-43] Upload accepts only files", async () => {
    const file = { filename: "a.png", contentType: "image/png", size: 3, stream: () => new ReadableStream() };

    expect(await data(built, "query ($f: Upload!) { upload(file: $f) }", { variables: { f: file } })).toEqual({
      upload: "a.png 3",
    });
    expect(
      (await ask(built, "query ($f: Upload!) { upload(file: $f) }", { variables: { f: "a.png" } })).errors?.[0]
        ?.message,
    ).toContain("Upload must be a file");
    expect((await ask(built, '{ upload(file: "a.png") }')).errors).toHaveLength(1);
  });

  it("requires serialize and parse", () => {
    expect(() => t.scalar("Half", { serialize: String } as never)).toThrow(
      "t.scalar Half needs both serialize and parse",
    );
  });
});

describe("descriptions and deprecations", () => {
  const Genre = t.enum(
    "Genre",
    { novel: { description: "Long." }, epic: { deprecationReason: "They are never written." } },
    { description: "Of a book." },
  );
  const Filter = t.input(
    "Filter",
    {
      text: t.arg(t.string, { description: "Anywhere." }),
      old: t.arg(t.nullable(t.string), { deprecationReason: "Use text." }),
    },
    { description: "What to find." },
  );
  const Book: ObjectType<BookRow> = object("Book", { id: t.id }, { description: "Has pages." });
  const types = introspectTypes(
    schema({
      query: {
        find: field(t.list(Book), {
          description: "Finds.",
          deprecationReason: "Use search.",
          params: {
            filter: t.arg(Filter, { description: "By what." }),
            old: t.arg(t.nullable(Genre), { deprecationReason: "Use filter." }),
            renamed: t.arg(t.int, { default: 1, name: "first" }),
          },
        })(() => []),
      },
    }),
  );
  const type = (name: string): unknown => types.find((type) => type.name === name);

  it("[RES-44] appear on types, fields, arguments, input fields and enum values", () => {
    expect(type("Book")).toMatchObject({ description: "Has pages." });
    expect(type("Genre")).toMatchObject({
      description: "Of a book.",
      enumValues: [{ name: "novel", description: "Long." }, { name: "epic" }],
    });
    expect(type("Filter")).toMatchObject({
      description: "What to find.",
      inputFields: [{ name: "text", description: "Anywhere." }, {}],
    });
    expect(type("Query")).toMatchObject({
      fields: [{ description: "Finds.", args: [{ description: "By what." }, {}, { name: "first" }] }],
    });
  });

  it("[RES-45] mark fields, arguments, input fields and enum values", () => {
    expect(type("Genre")).toMatchObject({
      enumValues: [{ isDeprecated: false }, { isDeprecated: true, deprecationReason: "They are never written." }],
    });
    expect(type("Filter")).toMatchObject({ inputFields: [{}, { isDeprecated: true, deprecationReason: "Use text." }] });
    expect(type("Query")).toMatchObject({
      fields: [
        {
          isDeprecated: true,
          deprecationReason: "Use search.",
          args: [{}, { isDeprecated: true, deprecationReason: "Use filter." }, {}],
        },
      ],
    });
  });
});

describe("[RES-47] an optional input", () => {
  const Change = t.input("Change", { title: t.optional(t.string), note: t.optional(t.nullable(t.string)) });
  const built = schema({
    query: {
      keys: field(t.json, { params: { a: t.optional(t.nullable(t.int)), b: t.nullable(t.int), c: t.optional(t.int) } })(
        ({ a, b, c }) => ({
          a: a === undefined ? "absent" : a,
          b: b === undefined ? "absent" : b,
          c: c === undefined ? "absent" : c,
        }),
      ),
      change: field(t.json, { params: { change: Change } })(({ change }) => change),
    },
  });

  it("[RES-47] distinguishes an omitted value from null", async () => {
    expect(printSchema(built)).toContain("keys(a: Int, b: Int, c: Int): JSON!");
    expect(await data(built, "{ keys x: keys(a: null, b: null) y: keys(a: 1, b: 2, c: 3) }")).toEqual({
      keys: { a: "absent", b: null, c: "absent" },
      x: { a: null, b: null, c: "absent" },
      y: { a: 1, b: 2, c: 3 },
    });
  });

  it("[RES-47] distinguishes them in an input object", async () => {
    expect(
      await data(
        built,
        '{ a: change(change: {}) b: change(change: { note: null }) c: change(change: { title: "x" }) }',
      ),
    ).toEqual({
      a: {},
      b: { note: null },
      c: { title: "x" },
    });
  });

  it("rejects null unless its type is nullable", async () => {
    const result = await ask(built, "{ keys(c: null) }");
    const inner = await ask(built, "{ change(change: { title: null }) }");

    expect(result.errors?.[0]).toMatchObject({
      message: "the argument c may be omitted, but must not be null",
      extensions: { code: "BAD_REQUEST" },
    });
    expect(inner.errors?.[0]?.message).toBe("Change.title may be omitted, but must not be null");
  });

  it("must be the outermost wrapper", () => {
    expect(() => t.list(t.optional(t.int) as never)).toThrow("t.optional() must be the outermost wrapper");
    expect(() => t.nullable(t.optional(t.int) as never)).toThrow("t.optional() must be the outermost wrapper");
  });
});

it("accepts a root in several parts", async () => {
  const books = { book: field(t.string)(() => "Emma") };
  const authors = { author: field(t.string)(() => "Austen") };
  class More {
    readonly more = field(t.int)(() => 3);
  }
  const built = schema({ query: [books, authors, new More()] });

  expect(await data(built, "{ book author more }")).toEqual({ book: "Emma", author: "Austen", more: 3 });
  expect(validate(built, parse("{ book author more }"))).toEqual([]);
});

it("accepts a class with fields, or an instance, as a root", async () => {
  class Query {
    readonly #name: string;
    constructor(name = "guest") {
      this.#name = name;
    }
    readonly hello = field(t.string, { params: { n: t.int(1) } })(({ n }) => `${n} ${this.#name}`);
  }

  expect(await data(schema({ query: Query }), "{ hello }")).toEqual({ hello: "1 guest" });
  expect(await data(schema({ query: new Query("Ada") }), "{ hello(n: 2) }")).toEqual({ hello: "2 Ada" });
});
