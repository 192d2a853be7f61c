import { buildSchema, graphql, introspectionFromSchema, printSchema as print } from "graphql";
import { PorticoApp } from "portico";
import {
  field,
  Graph,
  type InterfaceType,
  mutation,
  type ObjectType,
  object,
  printSchema,
  schema,
  t,
} from "portico/graphql";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

const Level = t.enum("Level", { LOW: 1, HIGH: 2 });
const mark = t.directive("mark", {
  on: [
    "SCHEMA",
    "SCALAR",
    "OBJECT",
    "FIELD_DEFINITION",
    "ARGUMENT_DEFINITION",
    "INTERFACE",
    "UNION",
    "ENUM",
    "ENUM_VALUE",
    "INPUT_OBJECT",
    "INPUT_FIELD_DEFINITION",
  ],
  args: { at: t.string, level: t.arg(Level, { default: 1 }), tags: t.nullable(t.list(t.string)) },
  repeatable: true,
  description: "Marks a place.",
});
const once = t.directive("once", { on: ["FIELD_DEFINITION"] });
const hello = field(t.string)(() => "world");
const refuse = (query: object, directives?: unknown): unknown => {
  try {
    schema({ query, ...(directives === undefined ? {} : { directives }) } as { query: {} });
  } catch (error) {
    return (error as Error).message;
  }
  return "accepted";
};

describe("a directive", () => {
  it("is printed at every place that has it, and defined", () => {
    const Named: InterfaceType<{ name: string }> = t.interface(
      "Named",
      { name: t.string },
      { resolveType: () => "Dog", directives: [mark({ at: "interface" })] },
    );
    const Dog: ObjectType<{ name: string }> = object(
      "Dog",
      { age: field(t.int, { directives: [mark({ at: "field", level: 2 })] })(() => 1) },
      { implements: [Named], directives: [mark({ at: "one" }), mark({ at: "two", tags: ["a", 'b"c'] })] },
    );
    const Money = t.scalar<string>("Money", { serialize: String, parse: String, directives: [mark({ at: "scalar" })] });
    const Size = t.enum(
      "Size",
      { BIG: { directives: [mark({ at: "value" })] }, SMALL: {} },
      { directives: [mark({ at: "enum" })] },
    );
    const NewDog = t.input(
      "NewDog",
      { name: t.arg(t.string, { directives: [mark({ at: "input field" })] }), size: Size },
      { directives: [mark({ at: "input" })] },
    );
    const Pet = t.union("Pet", [Dog], { resolveType: () => "Dog", directives: [mark({ at: "union" })] });
    const built = schema({
      query: {
        pet: field(Pet, { params: { price: t.arg(Money, { directives: [mark({ at: "argument" })] }) } })(() => ({
          name: "",
        })),
        old: field(t.string, { deprecationReason: "Use pet.", directives: [once()] })(() => ""),
      },
      mutation: { add: mutation(t.int, { params: { dog: NewDog } })(() => 1) },
      directives: [mark({ at: "schema" })],
    });

    const text = printSchema(built);

    expect(text).toMatchInlineSnapshot(`
      "schema @mark(at: "schema") {
        query: Query
        mutation: Mutation
      }

      """Marks a place."""
      directive @mark(at: String!, level: Level! = LOW, tags: [String!]) repeatable on ARGUMENT_DEFINITION | ENUM | ENUM_VALUE | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | INPUT_OBJECT | INTERFACE | OBJECT | SCALAR | SCHEMA | UNION

      directive @once on FIELD_DEFINITION

      type Dog implements Named @mark(at: "one") @mark(at: "two", tags: ["a", "b\\"c"]) {
        age: Int! @mark(at: "field", level: HIGH)
        name: String!
      }

      enum Level {
        HIGH
        LOW
      }

      scalar Money @mark(at: "scalar")

      type Mutation {
        add(dog: NewDog!): Int!
      }

      interface Named @mark(at: "interface") {
        name: String!
      }

      input NewDog @mark(at: "input") {
        name: String! @mark(at: "input field")
        size: Size!
      }

      union Pet @mark(at: "union") = Dog

      type Query {
        old: String! @deprecated(reason: "Use pet.") @once
        pet(price: Money! @mark(at: "argument")): Pet!
      }

      enum Size @mark(at: "enum") {
        BIG @mark(at: "value")
        SMALL
      }
      "
    `);
    // The text is valid SDL: other tools can read it.
    expect(print(buildSchema(text))).toContain("type Dog implements Named");
  });

  it("is in the extensions of its place, and in introspection", () => {
    const built = schema({ query: { hello: field(t.string, { directives: [once(), mark({ at: "x" })] })(() => "") } });

    expect(built.getQueryType()?.getFields()["hello"]?.extensions).toEqual({
      directives: [
        { name: "once", args: {} },
        { name: "mark", args: { at: "x" } },
      ],
    });
    // oxlint-disable-next-line no-underscore-dangle -- graphql's own name
    const { directives } = introspectionFromSchema(built).__schema;
    expect(directives.find(({ name }) => name === "mark")).toMatchObject({
      description: "Marks a place.",
      isRepeatable: true,
      args: [{ name: "at" }, { name: "level", defaultValue: "LOW" }, { name: "tags" }],
    });
  });

  it("of a query is defined by the schema, accepted in documents and visible in info", async () => {
    const flag = t.directive("flag", { on: ["FIELD", "QUERY"], args: { name: t.string } });
    const seen = field(t.list(t.string))(({ info }) =>
      info.fieldNodes.flatMap(({ directives = [] }) => directives.map(({ name }) => name.value)),
    );
    const app = new PorticoApp({ logger: false });
    new Graph(schema({ query: { seen }, directives: [flag] })).mount(app);
    const client = testClient(app);

    const accepted = await client.post("/graphql", {
      body: { query: 'query @flag(name: "q") { seen @flag(name: "f") }' },
    });
    const rejected = await client.post("/graphql", { body: { query: "{ seen @flag }" } });

    expect(accepted.json()).toMatchObject({ data: { seen: ["flag"] } });
    expect(rejected.status).toBe(400);
  });

  it("changes nothing in the response and in the text of a schema without directives", async () => {
    const plain = schema({ query: { hello } });
    const marked = schema({ query: { hello: field(t.string, { directives: [once()] })(() => "world") } });

    expect((await graphql({ schema: marked, source: "{ hello }" })).data).toEqual({ hello: "world" });
    expect(printSchema(plain)).toBe("type Query {\n  hello: String!\n}\n");
  });
});

describe("an invalid directive is refused", () => {
  it("at a place that is not in its option on", () => {
    const Dog: ObjectType<{ name: string }> = object("Dog", { name: t.string }, { directives: [once()] });

    expect(refuse({ dog: field(Dog)(() => ({ name: "" })) })).toContain(
      "Dog: @once cannot be applied here: OBJECT is not in its option on (FIELD_DEFINITION)",
    );
    expect(refuse({ hello }, [once()])).toContain("schema.directives: @once cannot be applied here: SCHEMA");
  });

  it("twice at one place, unless it is repeatable", () => {
    expect(refuse({ a: field(t.string, { directives: [once(), once()] })(() => "") })).toContain(
      "Query.a: has @once twice: set its option repeatable",
    );
  });

  it("with arguments that it does not have, of another type, or without a required one", () => {
    const a = (args: object): object => ({ a: field(t.string, { directives: [mark(args as { at: "" })] })(() => "") });

    expect(refuse(a({ at: "x", to: 1 }))).toContain("Query.a @mark: has no argument named to");
    expect(refuse(a({ at: "x", level: 3 }))).toContain(
      "Query.a @mark: the argument level does not match the type Level!",
    );
    expect(refuse(a({ at: "x", level: null }))).toContain("the argument level is required");
    expect(refuse(a({}))).toContain("Query.a @mark: the argument at is required");
  });

  it("with the name of another one, or of GraphQL's own", () => {
    const other = t.directive("once", { on: ["OBJECT"] });

    expect(refuse({ hello }, [once, other])).toContain("there are two directives named @once");
    expect(refuse({ hello }, [t.directive("deprecated", { on: ["OBJECT"] })])).toContain(
      "@deprecated is a directive of GraphQL itself",
    );
  });

  it("without places, or without being called", () => {
    expect(() => t.directive("d", {} as never)).toThrow("t.directive d.on: is missing");
    expect(() => t.directive("d", { on: ["NOWHERE"] } as never)).toThrow(
      "t.directive d.on must be a list of locations",
    );
    expect(() => t.directive("no name", { on: ["OBJECT"] })).toThrow("a GraphQL name may contain only");
    expect(() => field(t.string, { directives: [once] as never })).toThrow(
      "field.directives must be a list of directives with their arguments",
    );
    expect(() => field(t.string, { directives: [once()], extensions: { directives: [] } })).toThrow(
      "field.extensions.directives is reserved: use the option directives instead",
    );
    expect(refuse({ hello }, ["once"])).toContain(
      "schema.directives must be a list of directives made by t.directive()",
    );
  });
});
