import { field, mutation, object, ResolverError, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { data } from "./ask.ts";

// vitest does not compile decorators: here they are called as compilers call them. `toolchains.servers.test.ts` has real ones.
type Loose = (target: unknown, context: unknown, descriptor?: unknown) => unknown;
const context = (kind: string, name: string | symbol, more: object = {}): object => ({
  kind,
  name,
  static: false,
  private: false,
  metadata: {},
  ...more,
});
const on = (factory: unknown): Loose => factory as Loose;

describe("a decorator rejects", () => {
  it.each([
    ["a getter", context("getter", "title")],
    ["an accessor", context("accessor", "title")],
    ["a static method", context("method", "title", { static: true })],
    ["a private method", context("method", "title", { private: true })],
    ["a class", { kind: "class", name: "title", metadata: {} }],
  ])("%s", (_, given) => {
    expect(() => on(field(t.string))(() => "", given)).toThrow(
      "field title: the decorator can only be used on a method or a property that is neither static nor private",
    );
  });

  it("a member whose name is a symbol", () => {
    expect(() => on(field(t.string))(() => "", context("method", Symbol.iterator))).toThrow(ResolverError);
  });

  it("legacy: a static member and a getter", () => {
    expect(() => on(field(t.string))(Map, "title", { value: () => "" })).toThrow("neither static nor private");
    expect(() => on(field(t.string))({}, "title", { get: () => "" })).toThrow("neither static nor private");
  });

  it("a context without metadata", () => {
    expect(() => on(field(t.string))(() => "", context("method", "title", { metadata: undefined }))).toThrow(
      "field title: the decorator received no metadata",
    );
  });

  it("[RES-14] everything that the wrapper form rejects, naming the member", () => {
    const title = ({ limt }: { limt: unknown }): unknown => limt;

    expect(() => on(field(t.string))(title, context("method", "title"))).toThrow(
      "field title: the parameter limt is not declared in params",
    );
    expect(() => on(mutation(t.string))(title, context("method", "title"))).toThrow(
      "mutation title: the parameter limt",
    );
    expect(() => on(subscription(t.int))(() => 1, context("method", "ticks"))).toThrow(
      "subscription ticks: the resolver of a subscription must be an async generator",
    );
    expect(() => on(subscription(t.int))({}, "ticks", { value: () => 1 })).toThrow(
      "subscription ticks: the resolver of a subscription must be an async generator",
    );
    expect(() => on(field(t.string, { params: { n: t.int } }))(undefined, context("field", "title"))).toThrow(
      "field title: a field without a resolver cannot have params",
    );
  });
});

describe("a decorated method", () => {
  it("that another decorator has replaced is called in its current form", async () => {
    class Query {
      secret(): string {
        return "open";
      }
    }
    on(field(t.string))(Query.prototype, "secret", Object.getOwnPropertyDescriptor(Query.prototype, "secret"));
    Query.prototype.secret = () => "guarded";

    expect(await data(schema({ query: Query }), "{ secret }")).toEqual({ secret: "guarded" });
  });

  it("can be overridden by a subclass", async () => {
    class Base {
      name(): string {
        return "base";
      }
    }
    on(field(t.string))(Base.prototype, "name", Object.getOwnPropertyDescriptor(Base.prototype, "name"));
    class Query extends Base {
      override name(): string {
        return "derived";
      }
    }

    expect(await data(schema({ query: Query }), "{ name }")).toEqual({ name: "derived" });
    expect(await data(schema({ query: Base }), "{ name }")).toEqual({ name: "base" });
  });
});

it("a class is the model of one type, and its members are added to those of object()", () => {
  class Shop {
    name = "";
  }
  on(field(t.string))(Shop.prototype, "name");
  const ShopType = object("Shop", {}, { model: Shop });

  expect(() => object("Other", {}, { model: Shop })).toThrow(
    "object Other: the class Shop is already the model of Shop",
  );
  expect(schema({ query: { shop: field(ShopType)(() => new Shop()) } }).getType("Shop")).toBeDefined();
});

it.each(["_Shop", "e", "Ze", "shop"])(
  "a class named %s cannot name a type, because the name may come from a bundler",
  (name) => {
    const model = class {
      name = "";
    };
    Object.defineProperty(model, "name", { value: name });
    on(field(t.string))(model.prototype, "name");

    expect(() => schema({ query: { shop: field(model)(() => new model()) } })).toThrow(
      `Query.shop: the name of the class ${name} may come from a bundler`,
    );
  },
);
