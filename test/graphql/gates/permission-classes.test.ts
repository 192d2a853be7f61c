import { ConfigurationError } from "portico";
import {
  connection,
  type FieldPermission,
  field,
  GraphQLDenied,
  mutation,
  type ObjectType,
  object,
  ResolverError,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { describe, expect, it, vi } from "vitest";
import { ask, data, denial, httpContext, listen, userNamed } from "../ask.ts";

const bob = userNamed("bob");
const text = t.nullable(t.string);
class Deny implements FieldPermission {
  hasPermission(): boolean {
    return false;
  }
}
class Grant implements FieldPermission {
  hasPermission(): boolean {
    return true;
  }
}
const says = (verdict: () => unknown): FieldPermission => ({ hasPermission: verdict as () => boolean });

describe("permissionClasses", () => {
  const run = vi.fn<() => string>(() => "open");
  const asking = async (permissionClasses: readonly unknown[], auth?: true | (() => boolean)) => {
    run.mockClear();
    const options = {
      permissionClasses: permissionClasses as FieldPermission[],
      ...(auth === undefined ? {} : { auth }),
    };
    const built = schema({ query: { a: field(text, options as object)(() => run()), b: field(t.int)(() => 1) } });
    const results = await Promise.all([{ user: bob }, {}].map((caller) => ask(built, "{ a b }", caller)));
    for (const result of results) expect(result.data?.["b"]).toBe(1);
    return results.map((result) => result.data?.["a"] ?? denial(result));
  };

  it.each([
    ["a class", [Deny]],
    ["an instance", [new Deny()]],
    ["an async method", [says(async () => false)]],
    ["the second of two", [Grant, Deny]],
    ["the first of two", [Deny, Grant]],
    ["the second, after one that is async", [says(async () => true), Deny]],
    ["a truthy object", [says(() => ({}))]],
    ["1", [says(() => 1)]],
    ["a promise of a text", [says(async () => "yes")]],
    ["nothing", [says(() => undefined)]],
  ])("deny access, and the resolver does not run: %s", async (_, classes) => {
    expect(await asking(classes)).toEqual(["a FORBIDDEN", "a UNAUTHENTICATED"]);
    expect(run).not.toHaveBeenCalled();
  });

  it.each([
    [
      "a throw",
      [
        says(() => {
          throw new Error("the rules are away");
        }),
      ],
    ],
    ["a rejection", [says(() => Promise.reject(new Error("the rules are away")))]],
  ])("keep closed if they fail, and the resolver does not run: %s", async (_, classes) => {
    expect(await asking(classes)).toEqual(["a FORBIDDEN", "a UNAUTHENTICATED"]);
    expect(run).not.toHaveBeenCalled();
  });

  it.each([
    ["a class", [Grant]],
    ["an instance", [new Grant()]],
    ["an async method", [says(async () => true), Grant]],
    ["none", []],
    [
      "a class whose method is a property",
      [
        class {
          readonly hasPermission = (): boolean => true;
        },
      ],
    ],
  ])("allow access only with true, for anonymous callers too: %s", async (_, classes) => {
    expect(await asking(classes)).toEqual(["open", "open"]);
  });

  it("are checked in addition to auth: both must allow access", async () => {
    const grant = vi.fn<() => boolean>(() => true);

    expect(await asking([Grant], true)).toEqual(["open", "a UNAUTHENTICATED"]);
    expect(await asking([Deny], true)).toEqual(["a FORBIDDEN", "a UNAUTHENTICATED"]);
    expect(await asking([says(grant)], () => false)).toEqual(["a FORBIDDEN", "a UNAUTHENTICATED"]);
    expect(grant).not.toHaveBeenCalled();
  });

  it("can throw their own denial", async () => {
    const denied = says(() => {
      throw new GraphQLDenied("UNAUTHENTICATED");
    });

    expect(await asking([denied])).toEqual(["a UNAUTHENTICATED", "a UNAUTHENTICATED"]);
  });

  it("fail with SERVICE_UNAVAILABLE while the caller cannot be authenticated", async () => {
    const built = schema({ query: { a: field(text, { permissionClasses: [Deny] })(() => "") } });

    expect(denial(await ask(built, "{ a }", { failure: new Error("the store is down") }))).toBe(
      "a SERVICE_UNAVAILABLE",
    );
  });

  it("are called with the source and graphql's info, for every object", async () => {
    const people = [{ id: "ada" }, { id: "bob" }];
    const own = vi.fn<FieldPermission["hasPermission"]>((source) => source === people[1]);
    const Person: ObjectType<{ readonly id: string }> = object("Person", {
      mine: field(t.nullable(t.id), { permissionClasses: [{ hasPermission: own }] })(({ parent }) => parent.id),
    });
    const built = schema({ query: { people: field(t.list(Person))(() => people) } });

    const result = await ask(built, "{ people { mine } }", { user: bob });

    expect(result.data).toEqual({ people: [{ mine: null }, { mine: "bob" }] });
    expect(denial(result)).toBe("people.0.mine FORBIDDEN");
    const info: unknown = expect.objectContaining({ fieldName: "mine", parentType: built.getType("Person") });
    expect(own.mock.calls).toEqual(people.map((person) => [person, info]));
  });

  it("guard mutations, subscriptions, properties, members of a class and connections", async () => {
    const begin = vi.fn<() => void>();
    const options = { permissionClasses: [Deny] };
    class Shop {
      readonly owner = "ada";
      secret(): string {
        begin();
        return "";
      }
    }
    const decorate = (factory: unknown, key: "owner" | "secret"): void =>
      (factory as (...of: unknown[]) => void)(
        Shop.prototype,
        key,
        Object.getOwnPropertyDescriptor(Shop.prototype, key),
      );
    decorate(field(text, options), "owner");
    decorate(field(text, options), "secret");
    const Book: ObjectType<{ readonly id: string }> = object("Book", {
      id: field(t.nullable(t.id), options) as never,
    });
    const built = schema({
      query: {
        shop: field(Shop)(() => new Shop()),
        book: field(Book)(() => ({ id: "1" })),
        books: connection(
          Book,
          new CursorPagination(),
          options,
        )(() => {
          begin();
          return [];
        }),
      },
      mutation: {
        add: mutation(
          text,
          options,
        )(() => {
          begin();
          return "";
        }),
      },
      subscription: {
        ticks: subscription(
          t.int,
          options,
        )(async function* () {
          begin();
          yield 1;
        }),
      },
    });

    expect(denial(await ask(built, "{ shop { owner secret } book { id } }", { user: bob }))).toBe(
      "shop.owner FORBIDDEN, shop.secret FORBIDDEN, book.id FORBIDDEN",
    );
    expect(denial(await ask(built, "{ books { totalCount } }", { user: bob }))).toBe("books FORBIDDEN");
    expect(denial(await ask(built, "mutation { add }", { user: bob }))).toBe("add FORBIDDEN");
    expect(denial((await listen(built, "subscription { ticks }", httpContext({ user: bob }))) as never)).toBe(
      "ticks FORBIDDEN",
    );
    expect(begin).not.toHaveBeenCalled();
  });

  it("are constructed once, when the field is declared", async () => {
    let made = 0;
    class Counted extends Grant {
      constructor() {
        super();
        made++;
      }
    }
    const built = schema({ query: { a: field(t.int, { permissionClasses: [Counted] })(() => 1) } });

    await data(built, "{ a b: a }");

    expect(made).toBe(1);
  });

  it.each([
    [
      "a class without the method",
      Map,
      "a class with the method hasPermission(source, info), or an instance of one, received the function Map",
    ],
    ["an object without it", { hasPermision: () => false }, "or an instance of one, received an object (Object)"],
    ["a text", "admin", 'or an instance of one, received "admin"'],
    ["nothing", undefined, "or an instance of one, received undefined"],
  ])("reject an entry without hasPermission when the field is declared: %s", (_, entry, sentence) => {
    const declare = (): unknown => field(t.int, { permissionClasses: [Grant, entry] as never });

    expect(declare).toThrow(ConfigurationError);
    expect(declare).toThrow("field.permissionClasses[1] must be a class with the method");
    expect(declare).toThrow(sentence);
  });

  it("reject a class that needs arguments, and a function", () => {
    class Needy extends Grant {
      constructor(rules: { readonly size: number }) {
        super();
        void rules.size;
      }
    }

    for (const entry of [Needy, () => true])
      expect(() => field(t.int, { permissionClasses: [entry as never] })).toThrow(
        new ResolverError(
          "field.permissionClasses[0]",
          "could not construct the class without arguments: pass an instance instead",
        ),
      );
  });
});
