import { ConfigurationError, Depend, HttpContext } from "portico";
import { field, mutation, type ObjectType, object, ResolverError, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";

const loose = { field, mutation } as unknown as Record<
  "field" | "mutation",
  (...head: unknown[]) => (...body: unknown[]) => unknown
>;
const looseObject = object as unknown as (name: string, fields: object) => ObjectType<never>;
const looseSubscription = subscription as unknown as (...head: unknown[]) => (...body: unknown[]) => unknown;

function refusal(declare: () => unknown): ResolverError {
  try {
    declare();
  } catch (error) {
    if (error instanceof ResolverError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

it("[RES-13] [RES-14] rejects the import of a module whose resolver destructures an undeclared name, naming it", async () => {
  const importing = import("./fixtures/undeclared.ts");

  await expect(importing).rejects.toThrow(ResolverError);
  await expect(importing).rejects.toThrow(
    'field: the parameter limt is not declared in params (declared: limit). Did you mean "limit"? If not, add it with its type, such as { limt: t.int }',
  );
});

describe.each(["field", "mutation"] as const)("%s rejects", (name) => {
  const make = loose[name];

  it("[RES-13] [RES-25] a name that is neither declared nor ambient", () => {
    expect(refusal(() => make(t.string)(({ limt }: never) => limt))).toMatchObject({
      name: "ResolverError",
      code: "RESOLVER_INVALID",
    });
  });

  it("[RES-14] [RES-25] an undeclared name among declared ones, listing them", () => {
    expect(
      refusal(() => make(t.string, { params: { a: t.int, b: t.int } })(({ a, limt }: never) => [a, limt])).message,
    ).toBe(
      `${name}: the parameter limt is not declared in params (declared: a, b). Add it with its type, such as { limt: t.int }`,
    );
  });

  it("[RES-14] [RES-25] a parameter without a type, by its name", () => {
    expect(refusal(() => make(t.string, { params: { limit: undefined } })).message).toContain(
      "the parameter limit has no type",
    );
    expect(refusal(() => make(t.string, { params: { limit: 10 } })).message).toContain(
      "the parameter limit has no type",
    );
  });

  it("[RES-15] [RES-25] ...rest in the destructuring", () => {
    expect(
      refusal(() => make(t.string, { params: { a: t.int } })(({ a, ...rest }: { a: number }) => [a, rest])).message,
    ).toBe(`${name}: a resolver must name its parameters, without ...rest: a field has a fixed list of arguments`);
  });

  it("[RES-16] [RES-25] (...args)", () => {
    expect(refusal(() => make(t.string)((...args: unknown[]) => args)).message).toContain("not (...args)");
  });

  it("[RES-36] [RES-25] a second parameter", () => {
    expect(
      refusal(() => make(t.string, { params: { a: t.int } })(({ a }: never, b: unknown) => [a, b])).message,
    ).toContain("must take one object, without a second parameter");
  });

  it.each(["parent", "root", "self"])("[RES-53] %s as an argument", (key) => {
    expect(refusal(() => make(t.string, { params: { [key]: t.string } })).message).toBe(
      `${name}: the name ${key} is reserved for the parent object: choose another name for the parameter`,
    );
  });

  it("a resolver that is not a function, and a type that is missing", () => {
    expect(refusal(() => make(t.string)("books")).message).toContain("expects a resolver function, received string");
    expect(refusal(() => make(undefined)).message).toContain("pass a thunk");
  });

  it("an output type or another class as an argument", () => {
    const Book = object<{ id: string }, { id: typeof t.id }>("Book", { id: t.id });

    expect(refusal(() => make(t.string, { params: { book: Book } })).message).toContain(
      "the parameter book has an output type",
    );
    expect(refusal(() => make(t.string, { params: { book: Map } })).message).toContain("the class Map");
  });

  it("a dependency under a name that every resolver receives", () => {
    expect(refusal(() => make(t.string, { params: { ctx: Depend(() => 1) } })).message).toContain(
      "every resolver already receives ctx",
    );
  });

  it("a listSize that names an unknown argument", () => {
    expect(refusal(() => make(t.string, { listSize: { argument: "first", max: 3 } })).message).toContain(
      "listSize.argument names first",
    );
  });
});

it.each([
  ["a plain function", () => 1],
  ["an async function", async () => 1],
  [
    "a sync generator",
    function* () {
      yield 1;
    },
  ],
])("[RES-22] rejects a subscription whose resolver is %s", (_, resolver) => {
  expect(refusal(() => looseSubscription(t.int)(resolver)).message).toBe(
    "subscription: the resolver of a subscription must be an async generator: async function* ({ ... }) { yield ... }",
  );
});

describe("an invalid schema is rejected with the coordinate", () => {
  const hello = field(t.string)(() => "");
  const build = schema as (config: unknown) => unknown;

  it.each([
    [{ query: { a: 1 } }, "Query.a: is not a field"],
    [{ query: { a: field(t.string) } }, "Query.a: is not a field"],
    [{ query: {} }, "Query: must have at least one field"],
    [
      { query: { a: mutation(t.string)(() => "") } },
      "Query.a: is declared with mutation(). Declare the fields of Query with field()",
    ],
    [
      { query: { hello }, mutation: { hello } },
      "Mutation.hello: is declared with field(). Declare the fields of Mutation with mutation()",
    ],
    [{ query: [{ hello }, { hello }] }, "Query.hello: is declared twice"],
    [{ query: { hello, other: field(t.string, { name: "hello" })(() => "") } }, "Query.other: is declared twice"],
    [{ query: { a: field(t.ref<string>("Author"))(() => "") } }, "Query.a: there is no type named Author"],
    [{ query: { a: field((() => undefined) as never)(() => undefined as never) } }, "Query.a: has no type"],
    [{ query: { a: field(Date)(() => new Date()) } }, "Query.a: the class Date is not a GraphQL type"],
    [
      { query: { a: field(t.string, { params: { n: t.int(1.5) } })(() => "") } },
      "Query.a(n:): the default does not match the type Int!",
    ],
    [
      { query: { a: field(t.string, { params: { n: t.list(() => looseObject("B", {})) as never } })(() => "") } },
      "is an output type",
    ],
    [{ query: { a: field((() => t.input("In", { a: t.int })) as never)(() => "" as never) } }, "is an input type"],
    [{ query: { "a-b": field(t.string)(() => "") } }, "a-b"],
    [{ query: { __a: field(t.string)(() => "") } }, "__a"],
  ])("of %j: %s", (config, message) => {
    expect(refusal(() => build(config)).message).toContain(message);
  });

  it("of two types with the same name, wherever they are used", () => {
    const One = t.enum("Genre", ["a"]);
    const Two = t.enum("Genre", ["b"]);

    expect(
      refusal(() => build({ query: { a: field(One, { params: { g: Two } })(() => "a" as const) } })).message,
    ).toContain("there are two types named Genre");
  });

  it("of a field of an object", () => {
    expect(refusal(() => looseObject("Book", { author: undefined })).message).toContain(
      "Book.author: is neither a type nor a field",
    );
    expect(refusal(() => looseObject("Book", { add: mutation(t.string)(() => "") })).message).toContain(
      "Book.add: is declared with mutation()",
    );
    expect(refusal(() => looseObject("Book", { a: field(t.string, { params: { n: t.int } }) })).message).toContain(
      "Book.a: a field without a resolver cannot have params",
    );
    expect(refusal(() => looseObject("My Book", {})).message).toContain('received "My Book"');
  });
});

describe("an invalid option", () => {
  const make = field as unknown as (type: unknown, options: unknown) => unknown;

  it.each([
    [{ atuh: true }, 'field: unknown option "atuh". Did you mean "auth"?'],
    [
      { auth: undefined },
      "field.auth must be true, false, a function of the user that returns true or false, or a gate from useAuth(), rule(), every(), some() or not(), received undefined",
    ],
    [{ auth: "true" }, "field.auth must be true"],
    [{ auth: {} }, "field.auth must be true"],
    [{ nullable: true }, "field.nullable must be false"],
    [{ cost: -1 }, "field.cost must be a whole number"],
    [{ cost: 1.5 }, "field.cost must be a whole number"],
    [{ name: "" }, "field.name must be"],
    [{ listSize: "many" }, "field.listSize must be"],
    [{ listSize: { argument: "first", maximum: 3 } }, "field.listSize must be"],
    [{ permissionClasses: "admin" }, "field.permissionClasses must be a list"],
    [{ params: [] }, "field.params must be an object of parameters"],
    [{ extensions: { cost: 3 } }, "field.extensions.cost is reserved: use the option cost instead"],
    [{ shared: true }, "field.shared is only an option of subscription()"],
    [[HttpContext], "field options must be an object"],
  ])("fails the import: %j", (options, message) => {
    expect(() => make(t.string, options)).toThrow(ConfigurationError);
    expect(() => make(t.string, options)).toThrow(message);
  });

  it("fails schema()", () => {
    expect(() =>
      (schema as (config: unknown) => unknown)({ query: { a: field(t.int)(() => 1) }, mutations: {} }),
    ).toThrow('schema: unknown option "mutations". Did you mean "mutation"?');
  });
});
