import { Depend } from "portico";
import { field, mutation, type ObjectType, object, printSchema, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { ask, data, userNamed } from "./ask.ts";

const hello = field(t.string)(() => "world");
const save = mutation(t.int)(() => 1);
const ticks = subscription(t.int)(async function* () {
  yield 1;
});
const refuse = (config: unknown): unknown => {
  try {
    schema(config as { query: {} });
  } catch (error) {
    return (error as Error).message;
  }
  return "accepted";
};

describe("the names of root types", () => {
  it("are those of the option names, in SDL, introspection and messages", async () => {
    const built = schema({
      query: { hello },
      mutation: { save },
      subscription: { ticks },
      names: { query: "RootQuery", mutation: "RootMutation", subscription: "Events" },
    });

    expect(printSchema(built)).toContain(
      "schema {\n  query: RootQuery\n  mutation: RootMutation\n  subscription: Events\n}",
    );
    expect(await data(built, "{ __typename hello }")).toEqual({ __typename: "RootQuery", hello: "world" });
    expect(await data(built, "mutation { __typename save }")).toEqual({ __typename: "RootMutation", save: 1 });
    expect(refuse({ query: { save }, names: { query: "RootQuery" } })).toContain("RootQuery.save");
  });

  it("are the usual ones without the option, also for some of them", () => {
    const built = schema({ query: { hello }, mutation: { save }, names: { mutation: "Writes" } });

    expect(built.getQueryType()?.name).toBe("Query");
    expect(built.getMutationType()?.name).toBe("Writes");
  });

  it("must be valid and distinct, and belong to a root that exists", () => {
    const query = { hello };
    expect(refuse({ query, names: { query: "Root Query" } })).toContain(
      "schema.names.query: a GraphQL name may contain",
    );
    expect(refuse({ query, mutation: { save }, names: { query: "Mutation" } })).toContain(
      "schema.names: two root types are named Mutation",
    );
    expect(refuse({ query, names: { mutation: "Writes" } })).toContain(
      "schema.names.mutation: names a root type, but the schema has no mutation",
    );
    expect(refuse({ query, names: { quary: "Q" } })).toContain(
      "schema.names must be an object with query, mutation or subscription",
    );
    const Query: ObjectType<object> = object("Query", { a: hello });
    expect(refuse({ query: { ...query, own: field(Query)(() => ({})) } })).toContain("there are two types named Query");
  });
});

describe("a reference to the query type", () => {
  interface Payload {
    readonly id: string;
  }
  const Payload: ObjectType<Payload> = object("Payload", {
    id: t.id,
    query: field(t.ref<object>("Query"))(() => ({})),
  });

  it("resolves its fields, with their gates, arguments and dependencies", async () => {
    const greeting = field(t.string, { params: { name: t.string, word: Depend(() => "Hello") } })(
      ({ name, word }) => `${word} ${name}`,
    );
    class Secrets {
      readonly word = "sesame";
      readonly secret = field(t.string, { auth: true })(() => this.word);
    }
    const built = schema({
      query: [{ hello, greeting }, { secret: new Secrets().secret }],
      mutation: { add: mutation(Payload)(() => ({ id: "1" })) },
    });
    const source = 'mutation { add { id query { __typename hello greeting(name: "Ann") secret } } }';

    const anonymous = await ask(built, source);
    const signedIn = await data(built, source, { user: userNamed("ann") });

    const add = { id: "1", query: { __typename: "Query", hello: "world", greeting: "Hello Ann", secret: null } };
    expect(anonymous.data).toEqual({ add });
    expect(anonymous.errors?.map(({ path }) => path?.join("."))).toEqual(["add.query.secret"]);
    expect(signedIn).toEqual({ add: { ...add, query: { ...add.query, secret: "sesame" } } });
  });

  it("follows its name, and may stand in the query type itself, a list or a union", async () => {
    const Root = t.ref<{ kind: string }>("Root");
    const query = {
      hello,
      self: field(Root)(() => ({ kind: "one" })),
      many: field(t.list(t.nullable(Root)))(() => [{ kind: "two" }, null]),
    };
    const built = schema({ query, names: { query: "Root" } });

    expect(await data(built, "{ self { self { hello } } many { hello } }")).toEqual({
      self: { self: { hello: "world" } },
      many: [{ hello: "world" }, null],
    });
  });

  it("is refused for mutations and subscriptions, which a query could then run", () => {
    const roots = { mutation: { save }, subscription: { ticks } };
    for (const name of ["Mutation", "Subscription"])
      expect(refuse({ query: { hello, back: field(t.ref<object>(name))(() => ({})) }, ...roots })).toContain(
        `Query.back: ${name} is the root type of the schema's ${name.toLowerCase()}, which a field cannot have as its type`,
      );
  });

  it("says which name is unknown if the query type has another one", () => {
    const back = field(t.ref<object>("Query"))(() => ({}));
    expect(refuse({ query: { hello, back }, names: { query: "Root" } })).toContain("there is no type named Query");
  });
});
