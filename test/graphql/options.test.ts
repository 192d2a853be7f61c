import { Depend, HttpContext } from "portico";
import { field, mutation, printSchema, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { data, introspectTypes } from "./ask.ts";

class Everyone {
  hasPermission(): boolean {
    return true;
  }
}
const classes = [Everyone, { any: "thing", hasPermission: () => true }];
const built = schema({
  query: {
    bestSeller: field(t.string, {
      name: "best_seller",
      description: "The most sold.\n\n  Of all times. ",
      deprecationReason: "Use  `charts`.",
      permissionClasses: classes,
      cost: 5,
      listSize: 3,
      extensions: { complexity: { value: 7 }, tracing: Symbol.for("x") },
    })(() => "Emma"),
    plain: field(t.string)(() => ""),
    page: field(t.list(t.int), {
      params: { first: t.int(20) },
      listSize: { argument: "first", max: 100, assumed: 20 },
    })(() => []),
  },
  mutation: { add: mutation(t.int, { cost: 0 })(() => 1) },
  subscription: {
    live: subscription(t.int, { shared: true })(async function* () {
      yield 1;
    }),
  },
});
const fields = built.getQueryType()?.getFields() ?? {};

describe("the options of a field", () => {
  it("[FLD-08] set its name in the schema", async () => {
    expect(printSchema(built)).toContain("best_seller: String ");
    expect(await data(built, "{ best_seller }")).toEqual({ best_seller: "Emma" });
  });

  it("[FLD-09] [FLD-10] set its description and its deprecation", () => {
    const query = introspectTypes(built).find(({ name }) => name === "Query");

    expect(query).toMatchObject({
      fields: [
        {
          name: "best_seller",
          description: "The most sold.\n\n  Of all times. ",
          isDeprecated: true,
          deprecationReason: "Use  `charts`.",
        },
        { name: "plain", description: null, isDeprecated: false },
        {},
      ],
    });
  });

  it("[FLD-11] pass the list of permission classes to graphql unchanged", () => {
    expect(fields["best_seller"]?.extensions["permissionClasses"]).toBe(classes);
  });

  it("pass the cost and the extensions to graphql unchanged, and the gate under a name of its own", () => {
    expect(fields["best_seller"]?.extensions).toEqual({
      cost: 5,
      listSize: 3,
      permissionClasses: classes,
      complexity: { value: 7 },
      tracing: Symbol.for("x"),
      "portico.gate": expect.objectContaining({ kind: "every" }),
    });
    expect(fields["page"]?.extensions).toEqual({ listSize: { argument: "first", max: 100, assumed: 20 } });
    expect(fields["plain"]?.extensions).toEqual({});
    expect(built.getMutationType()?.getFields()["add"]?.extensions).toEqual({ cost: 0 });
    expect(built.getSubscriptionType()?.getFields()["live"]?.extensions).toEqual({ shared: true });
  });
});

it("runs a resolver in a unit test, without a server", async () => {
  const shelf = (): { list(limit: number): string[] } => ({ list: () => [] });
  const query = {
    books: field(t.list(t.string), {
      params: { limit: t.int(10), shelf: Depend(shelf), http: HttpContext },
      auth: true,
    })(({ limit, shelf }) => shelf.list(limit)),
  };

  const fake = { list: (limit: number) => ["Emma", "Persuasion"].slice(0, limit) };

  expect(await query.books.resolve({ limit: 1, shelf: fake, http: undefined as never })).toEqual(["Emma"]);
});
