/* oxlint-disable eslint/no-unused-vars, typescript/unbound-method -- what must not compile is the assertion, and nothing here runs */
import type { GraphQLResolveInfo, GraphQLSchema } from "graphql";
import {
  type AnonymousUser,
  type BaseContext,
  type Caller,
  Depend,
  HttpContext,
  PorticoApp,
  provide,
  topic,
  type UserProtocol,
  WebSocketContext,
} from "portico";
import {
  type Args,
  field,
  Graph,
  GraphContext,
  type GraphQLDenied,
  Info,
  type InOf,
  type InterfaceType,
  inject,
  type Loader,
  loader,
  mutation,
  nodeKey,
  type ObjectType,
  type Of,
  type OutOf,
  object,
  schema,
  subscription,
  t,
  type Upload,
} from "portico/graphql";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";

interface AuthorRow {
  id: string;
  name: string;
}
interface BookRow {
  id: string;
  title: string;
  author_id: string;
  published_at: string;
}
declare const rows: BookRow[];
declare const row: BookRow;
declare const flag: boolean;
class Shelf {
  list(limit: number): BookRow[] {
    return rows.slice(limit);
  }
}
const client = async function* (): AsyncGenerator<{ q: number }> {
  yield { q: 1 };
};
const shelf = provide({ c: Depend(client) })(({ c }) => {
  expectTypeOf(c).toEqualTypeOf<{ q: number }>();
  return new Shelf();
});

const Author: ObjectType<AuthorRow> = object("Author", { id: t.id, name: t.string });
const Book: ObjectType<BookRow> = object("Book", {
  id: t.id,
  title: t.string,
  author: field(() => Author)(({ parent, self, root }) => {
    expectTypeOf(parent).toEqualTypeOf<BookRow>();
    expectTypeOf(self).toEqualTypeOf<BookRow>();
    expectTypeOf(root).toEqualTypeOf<BookRow>();
    return { id: "", name: "" };
  }),
  byName: field(t.ref<AuthorRow>("Author"))(() => ({ id: "", name: "" })),
});
const Genre = t.enum("Genre", ["novel", "poetry"]);
const Money = t.scalar<bigint>("Money", { serialize: String, parse: (value) => BigInt(String(value)) });
const Filter = t.input("Filter", {
  q: t.string,
  genre: t.nullable(Genre),
  limit: t.optional(t.int),
  note: t.optional(t.nullable(t.string)),
  tags: t.list(t.list(t.id)),
});
const Key = t.oneOf("Key", { id: t.id, slug: t.string });
const Hit = t.union("Hit", [Book, Author], { resolveType: (hit) => ("title" in hit ? "Book" : "Author") });

it("an ID may be a number in a result, and is a string in an argument", () => {
  type Numbered = ObjectType<{ id: number; parent: number | null; isNew: boolean }>;
  const Row: Numbered = object("Row", { id: t.id, parent: t.nullable(t.id) });
  field(Row, { params: { id: t.id } })(({ id }) => {
    expectTypeOf(id).toEqualTypeOf<string>();
    return { id: 1, parent: null, isNew: true };
  });
  field(t.list(t.id))(() => [1, "2"]);
  const wrong = (): Numbered =>
    object("Row", {
      // @ts-expect-error a boolean is not an ID
      isNew: t.id,
    });
  expectTypeOf(wrong).toBeFunction();
});

describe("[RES-30] the parameter of a resolver", () => {
  it("[RES-30] is inferred from params", () => {
    field(t.list(Book), {
      params: {
        limit: t.int(10),
        q: t.nullable(t.string),
        o: t.optional(t.string),
        ids: t.list(t.id),
        genre: Genre("novel"),
        later: () => Genre,
        filter: Filter,
        key: Key,
        price: Money,
        file: t.upload,
        at: t.dateTime,
        any: t.json,
        a: t.arg(t.int, { default: 1, description: "" }),
        g: GraphContext,
        i: Info,
        http: HttpContext,
        ws: WebSocketContext,
        shelf: Depend(shelf),
        gen: Depend(function* () {
          yield "s";
        }),
      },
      cost: 5,
      listSize: { argument: "limit", max: 100 },
    })((args) => {
      expectTypeOf(args.limit).toEqualTypeOf<number>();
      expectTypeOf(args.q).toEqualTypeOf<string | null>();
      expectTypeOf(args.o).toEqualTypeOf<string | undefined>();
      expectTypeOf(args.ids).toEqualTypeOf<string[]>();
      expectTypeOf(args.genre).toEqualTypeOf<"novel" | "poetry">();
      expectTypeOf(args.later).toEqualTypeOf<"novel" | "poetry">();
      expectTypeOf(args.filter).toEqualTypeOf<{
        q: string;
        genre: "novel" | "poetry" | null;
        limit?: number;
        note?: string | null;
        tags: string[][];
      }>();
      expectTypeOf(args.key.id).toEqualTypeOf<string | undefined>();
      expectTypeOf(args.price).toEqualTypeOf<bigint>();
      expectTypeOf(args.file).toEqualTypeOf<Upload>();
      expectTypeOf(args.at).toEqualTypeOf<Date>();
      expectTypeOf(args.any).toEqualTypeOf<unknown>();
      expectTypeOf(args.a).toEqualTypeOf<number>();
      expectTypeOf(args.g).toEqualTypeOf<GraphContext>();
      expectTypeOf(args.i).toEqualTypeOf<GraphQLResolveInfo>();
      expectTypeOf(args.http).toEqualTypeOf<HttpContext>();
      expectTypeOf(args.ws.socket.send).toBeFunction();
      expectTypeOf(args.shelf).toEqualTypeOf<Shelf>();
      expectTypeOf(args.gen).toEqualTypeOf<string>();
      return rows;
    });
  });

  it("[RES-30] has the ambient names", () => {
    field(t.string)(({ ctx, context, info, parent }) => {
      expectTypeOf(ctx.user).toEqualTypeOf<UserProtocol | AnonymousUser>();
      expectTypeOf(context).toEqualTypeOf<BaseContext>();
      expectTypeOf(info).toEqualTypeOf<GraphQLResolveInfo>();
      expectTypeOf(parent).toEqualTypeOf<unknown>();
      return "";
    });
  });

  it("has an argument instead of an ambient name that is declared as a type", () => {
    field(t.string, { params: { ctx: t.string, info: t.int } })(({ ctx, info }) => {
      expectTypeOf(ctx).toEqualTypeOf<string>();
      expectTypeOf(info).toEqualTypeOf<number>();
      return ctx;
    });
  });

  it("[RES-32] is typed by the enclosing object", () => {
    const Of: ObjectType<BookRow> = object("Book", {
      upper: field(t.string)(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<BookRow>();
        return parent.title.toUpperCase();
      }),
      deep: field(t.string, { params: { n: t.int } })(async ({ root, self, n }) => {
        expectTypeOf(root).toEqualTypeOf<BookRow>();
        expectTypeOf(self).toEqualTypeOf<BookRow>();
        return root.title.repeat(n);
      }),
    });
    expectTypeOf<OutOf<typeof Of>>().toEqualTypeOf<BookRow>();
  });

  it("[RES-35] has no name that is neither declared nor ambient", () => {
    // @ts-expect-error nothing is declared
    field(t.string)(({ limt }) => "");
    // @ts-expect-error another name is declared
    field(t.string, { params: { limit: t.int(10) } })(({ limit, shelf }) => `${limit}`);
  });

  it("[RES-15] cannot have ...rest, and can be passed on as one object", () => {
    // @ts-expect-error a field has a fixed list of arguments
    field(t.string, { params: { a: t.int } })(({ a, ...rest }) => `${a} ${rest.ctx.kind}`);
    // @ts-expect-error without declared ones as well
    mutation(t.string)(({ ...rest }) => rest.ctx.kind);
    // @ts-expect-error in a subscription as well
    subscription(t.int, { params: { to: t.int } })(async function* ({ to, ...rest }) {
      yield to + Object.keys(rest).length;
    });
    const list = ({ limit, q }: { limit: number; q: string | null }): string => `${limit} ${q}`;
    field(t.string, { params: { limit: t.int(10), q: t.nullable(t.string) } })((args) => list(args));
  });

  it("has optional ambient names in a unit test", () => {
    const listed = field(t.list(Book), { params: { limit: t.int(10), shelf: Depend(shelf) } })(({ limit }) =>
      rows.slice(limit),
    );
    void listed.resolve({ limit: 1, shelf: new Shelf() });
    expectTypeOf(listed.resolve).returns.toEqualTypeOf<readonly BookRow[] | Promise<readonly BookRow[]>>();
    // @ts-expect-error the shelf is missing
    void listed.resolve({ limit: 1 });
    // @ts-expect-error another type
    void listed.resolve({ limit: "1", shelf: new Shelf() });
  });
});

describe("[RES-30] the return value of a resolver", () => {
  it("[RES-30] is checked against the type of the field", () => {
    field(t.list(Hit))(() => [row, { id: "", name: "" }]);
    field(t.nullable(Book))(() => undefined);
    field(t.nullable(t.string))(async () => null);
    field(Book)(async () => row);
    // @ts-expect-error not books
    field(t.list(Book))(() => [1]);
    // @ts-expect-error a number in a promise
    field(t.string, { params: { n: t.int } })(async ({ n }) => n);
    // @ts-expect-error null where nothing is nullable
    field(t.string)(() => null);
    // @ts-expect-error not one of the enum
    field(Genre)(() => "cookery");
    // @ts-expect-error nothing at all
    field(t.string)(() => {});
  });

  it("[RES-37] is an async generator for a subscription", () => {
    const renamed = (id: string) => topic<{ title: string }>(`renamed.${id}`, { keep: "1h" });
    subscription(t.string, { params: { id: t.id }, from: ({ id }) => renamed(id) })(({ event, id }) => {
      expectTypeOf(event).toEqualTypeOf<{ title: string }>();
      expectTypeOf(id).toEqualTypeOf<string>();
      return id === "" ? undefined : event.title;
    });
    // @ts-expect-error the value has the type of the field
    subscription(t.int, { from: () => renamed("1") })(({ event }) => event.title);
    const title: ObjectType<{ title: string }> = object("Title", { title: t.string });
    schema({
      query: { a: field(t.string)(() => "") },
      subscription: { b: subscription(title, { from: () => renamed("1") }) },
    });
    const incomplete = { b: subscription(t.int, { from: () => renamed("1") }) };
    // @ts-expect-error the event is not the value, so a resolver is needed
    schema({ query: { a: field(t.string)(() => "") }, subscription: incomplete });
    subscription(t.int, { params: { to: t.int(3) } })(async function* ({ to }) {
      expectTypeOf(to).toEqualTypeOf<number>();
      yield to;
    });
    // @ts-expect-error an async function
    subscription(Book)(async () => row);
    // @ts-expect-error a plain function
    subscription(Book)(() => row);
    // @ts-expect-error a sync generator
    subscription(Book)(function* () {
      yield row;
    });
    // @ts-expect-error other events
    subscription(Book)(async function* () {
      yield 1;
    });
  });
});

describe("types", () => {
  it("have their TypeScript types as arguments and results", () => {
    expectTypeOf<InOf<typeof Key>>().toEqualTypeOf<{ id: string; slug?: never } | { slug: string; id?: never }>();
    expectTypeOf<OutOf<typeof Hit>>().toEqualTypeOf<BookRow | AuthorRow>();
    expectTypeOf<InOf<typeof Money>>().toEqualTypeOf<bigint>();
    expectTypeOf(t.list(Book)).toHaveProperty("~kind").toEqualTypeOf<"list">();
  });

  it("are rejected in the wrong position", () => {
    // @ts-expect-error an object as an argument
    field(t.string, { params: { book: Book } });
    // @ts-expect-error a union as an argument
    field(t.string, { params: { hit: Hit } });
    // @ts-expect-error a class that is no context as a parameter
    field(t.string, { params: { map: Map } });
    // @ts-expect-error an input as a result
    field(Filter);
    // @ts-expect-error an optional result
    field(t.optional(t.string));
    // @ts-expect-error the parent is never an argument
    field(t.string, { params: { parent: t.string } });
    // @ts-expect-error nor is root
    field(t.string, { params: { root: t.string } });
    // @ts-expect-error nor is self
    field(t.string, { params: { self: Depend(shelf) } });
    // @ts-expect-error a default of another type
    field(t.string, { params: { limit: t.int("10") } });
    // @ts-expect-error a default that the enum does not hold
    field(t.string, { params: { genre: Genre("cookery") } });
    // @ts-expect-error a default of another type, in the long form
    t.arg(t.int, { default: "1" });
    // @ts-expect-error only an argument can be left out
    t.list(t.optional(t.int));
    // @ts-expect-error a oneOf input takes one
    const key: InOf<typeof Key> = { id: "", slug: "" };
    void key;
  });

  it("can only implement interfaces whose properties the row has", () => {
    const Node: InterfaceType<{ id: string }> = t.interface("Node", { id: t.id }, { resolveType: () => "Book" });
    const A: ObjectType<BookRow> = object("Book", { title: t.string }, { implements: [Node] });
    expectTypeOf<OutOf<typeof Node>>().toEqualTypeOf<{ id: string }>();
    // @ts-expect-error a row without an id
    const B: ObjectType<{ title: string }> = object("Book", { title: t.string }, { implements: [Node] });
    field(Node)(() => row);
    // @ts-expect-error no id
    field(Node)(() => ({ title: "" }));
    void [A, B];
  });

  it("are objects whose fields match the row", () => {
    // @ts-expect-error no such property
    const A: ObjectType<BookRow> = object("Book", { titel: t.string });
    // @ts-expect-error another type than the property
    const B: ObjectType<BookRow> = object("Book", { title: t.int });
    const C: ObjectType<BookRow> = object("Book", {
      // @ts-expect-error a field of another parent
      name: field(t.string)(({ parent }: { parent: AuthorRow }) => parent.name),
    });
    // @ts-expect-error a mutation in an object
    const D: ObjectType<BookRow> = object("Book", { add: mutation(t.string)(() => "") });
    // @ts-expect-error no annotation, so no parent
    const E = object("Book", { id: t.id });
    const F: ObjectType<BookRow> = object("Book", {
      title: field(t.string, { description: "" }),
      id: field(t.id, { auth: true }),
    });
    // @ts-expect-error a property that is not there
    const G: ObjectType<BookRow> = object("Book", { titel: field(t.string, { description: "" }) });
    // @ts-expect-error a property of another type
    const H: ObjectType<BookRow> = object("Book", { title: field(t.int, { description: "" }) });
    // @ts-expect-error the resolver is forgotten
    const I: ObjectType<BookRow> = object("Book", { author: field(() => Author) });
    class Shop {
      readonly name = "";
    }
    const J = object("Shop", { name: t.string }, { model: Shop });
    expectTypeOf(J).toEqualTypeOf<ObjectType<Shop>>();
    void [A, B, C, D, E, F, G, H, I];
  });
});

describe("[RES-54] an option that does not exist", () => {
  it("[RES-54] is a type error on a route", () => {
    const app = new PorticoApp();
    // @ts-expect-error misspelt: the route would stand open
    app.get("/", { atuh: true }, () => 1);
    // @ts-expect-error misspelt, beside good ones
    app.get("/", { params: { shelf: Depend(shelf) }, permisions: ["admin"] }, () => 1);
  });

  it("[RES-54] is a type error on a field", () => {
    // @ts-expect-error misspelt
    field(t.string, { aut: true });
    // @ts-expect-error misspelt, beside good ones: the field would stand open
    field(t.string, { params: { limit: t.int }, cost: 1, atuh: true });
    // @ts-expect-error misspelt
    field(t.string, { permisions: [] });
    // @ts-expect-error misspelt
    mutation(t.string, { auth: true, descripton: "" });
    // @ts-expect-error misspelt
    subscription(Book, { share: true });
    // @ts-expect-error an option of subscriptions
    field(Book, { shared: true });
    // @ts-expect-error misspelt
    t.arg(t.int, { defualt: 1 });
    // @ts-expect-error misspelt
    t.enum("E", { a: { descripton: "" } });
    // @ts-expect-error neither a value nor options
    t.enum("E", { a: true });
    // @ts-expect-error misspelt
    t.input("I", { a: t.int }, { desc: "" });
    // @ts-expect-error misspelt
    const A: ObjectType<BookRow> = object("Book", { id: t.id }, { implement: [] });
    // @ts-expect-error no such argument
    field(t.list(Book), { params: { first: t.int, shelf: Depend(shelf) }, listSize: { argument: "shelf", max: 3 } });
    void A;
  });
});

describe("gates", () => {
  it("narrow the user", () => {
    field(t.string, { auth: true })(({ ctx, context }) => {
      expectTypeOf(ctx).toEqualTypeOf<BaseContext<UserProtocol>>();
      expectTypeOf(context.user).toEqualTypeOf<UserProtocol>();
      return ctx.user.identity;
    });
    field(t.string, { params: { c: HttpContext, ws: WebSocketContext }, auth: (user) => user.hasPermission("x") })(
      ({ c, ws, ctx }) => {
        expectTypeOf(c.user).toEqualTypeOf<UserProtocol>();
        expectTypeOf(c.request.user).toEqualTypeOf<UserProtocol>();
        expectTypeOf(ws.user).toEqualTypeOf<UserProtocol>();
        expectTypeOf(ctx.user).toEqualTypeOf<UserProtocol>();
        return "";
      },
    );
  });

  it("receive the arguments, the context, and the object that they name", () => {
    field(t.string, {
      auth: (user, { args, ctx }) => {
        expectTypeOf(user).toEqualTypeOf<UserProtocol>();
        expectTypeOf(args).toEqualTypeOf<{ readonly id: string }>();
        expectTypeOf(ctx.user).toEqualTypeOf<UserProtocol>();
        return args.id === user.identity;
      },
      params: { id: t.id, shelf: Depend(shelf) },
    });
    const ownBook = field(t.string, { auth: (user, { parent }: Of<BookRow>) => parent.author_id === user.identity })(
      ({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<BookRow>();
        return parent.title;
      },
    );
    const isAuthor = (user: UserProtocol, { parent }: Of<{ author_id: string }>): boolean =>
      parent.author_id === user.identity;
    const isOwner = <Row extends { author_id: string }>(user: UserProtocol, { parent }: Of<Row>): boolean =>
      parent.author_id === user.identity;
    const A: ObjectType<BookRow> = object("Book", {
      a: ownBook,
      title: field(t.string, { auth: isAuthor }),
      b: field(t.string, {
        params: { n: t.int },
        auth: async (user, { parent, args }: Of<BookRow> & { args: { n: number } }) =>
          parent.author_id === user.identity && args.n > 1,
      })(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<BookRow>();
        return parent.title;
      }),
      c: field(t.string, { auth: isAuthor })(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<BookRow>();
        return parent.title;
      }),
      d: field(t.string, { auth: isOwner })(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<BookRow>();
        return parent.title;
      }),
    });
    // @ts-expect-error the gate is over books
    const B: ObjectType<AuthorRow> = object("Author", { a: ownBook });
    const C: ObjectType<AuthorRow> = object("Author", {
      // @ts-expect-error the gate is over books, written in place
      a: field(t.string, { auth: (user, { parent }: Of<BookRow>) => parent.author_id === user.identity })(() => ""),
    });
    // @ts-expect-error authors have no author_id
    const D: ObjectType<AuthorRow> = object("Author", { a: field(t.string, { auth: isAuthor })(() => "") });
    // @ts-expect-error nor has a property of theirs
    const E: ObjectType<AuthorRow> = object("Author", { name: field(t.string, { auth: isAuthor }) });
    // @ts-expect-error a wrong property of the parent
    field(t.string, { auth: (user, { parent }: Of<BookRow>) => parent.autor_id === user.identity });
    // @ts-expect-error the object is not named
    field(t.string, { auth: (user, { parent }) => parent.author_id === user.identity });
    // @ts-expect-error no such argument
    field(t.string, { params: { id: t.id }, auth: (user, { args }) => args.ids === user.identity });
    void [A, B, C, D, E];
  });

  it("of an object receive the context, and the arguments of the parameters that they name", () => {
    const editors = loader((ids: readonly string[]) => ids.map(() => ["ada"]));
    const params = { n: t.int, shelf: Depend(shelf) };
    const A: ObjectType<BookRow> = object("Book", {
      a: field(t.string, {
        auth: async (user, { parent, ctx }: Of<BookRow>) => {
          expectTypeOf(ctx).toEqualTypeOf<BaseContext<UserProtocol>>();
          return (await editors.load(ctx, parent.id)).includes(user.identity);
        },
      })(({ parent }) => parent.title),
      b: field(t.string, {
        params,
        auth: (_user, { args }: Of<BookRow, typeof params>) => {
          expectTypeOf(args).toEqualTypeOf<{ readonly n: number }>();
          return args.n > 1;
        },
      })(({ parent, n }) => parent.title.repeat(n)),
    });
    // @ts-expect-error the gate reads an argument that the field does not take
    const B = field(t.string, { auth: (_user, { args }: Of<BookRow, typeof params>) => args.n > 1 });
    // @ts-expect-error which arguments there are is not named
    const C = field(t.string, { params, auth: (_user, { args }: Of<BookRow>) => args.n > 1 });
    void [A, B, C];
  });

  it("are true or return a boolean", () => {
    field(t.string, { auth: async (user) => user.identity !== "" });
    // @ts-expect-error a verdict is a boolean
    field(t.string, { auth: (user) => user.identity });
    // Whether there is a gate is not known, so the user may be anonymous.
    field(t.string, { auth: flag })(({ ctx }) => {
      expectTypeOf(ctx.user).toEqualTypeOf<Caller>();
      return "";
    });
    field(t.string)(
      // @ts-expect-error not signed in for sure
      ({ ctx }: { ctx: BaseContext<UserProtocol> & { user: { isAuthenticated: true } } }) => ctx.user.identity,
    );
  });

  it("deny access with a code", () => {
    expectTypeOf<GraphQLDenied["code"]>().toEqualTypeOf<"UNAUTHENTICATED" | "FORBIDDEN" | "SERVICE_UNAVAILABLE">();
  });
});

describe("decorators", () => {
  it("check methods and properties", () => {
    const params = { title: t.string, shelf: Depend(shelf) };
    class Mutation {
      @mutation(Book, { params, auth: (user) => user.hasPermission("write:books") })
      a({ title, shelf }: Args<typeof params>): BookRow {
        expectTypeOf(shelf).toEqualTypeOf<Shelf>();
        return { ...row, title };
      }
      @mutation(Book, { params, auth: async (user, { args }) => args.title !== user.identity })
      async b({ title }: Args<typeof params>): Promise<BookRow> {
        return { ...row, title };
      }
      @mutation(t.string, { auth: true })
      c({ ctx }: Args<{}, unknown, true>): string {
        expectTypeOf(ctx.user).toEqualTypeOf<UserProtocol>();
        return ctx.user.identity;
      }
      @mutation(t.string, { auth: true })
      d({ ctx }: { ctx: BaseContext }): string {
        return ctx.user.displayName;
      }
      // @ts-expect-error title is a string
      @mutation(Book, { params: { title: t.string } }) f({ title }: { title: number }): BookRow {
        return rows[title] ?? row;
      }
      // @ts-expect-error wrong return
      @mutation(Book, { params }) g({ title }: Args<typeof params>): string {
        return title;
      }
      // @ts-expect-error misspelt option
      @mutation(Book, { params, atuh: true }) h(): BookRow {
        return row;
      }
    }
    class Subscription {
      @subscription(t.int, { params: { to: t.int(3) } })
      async *ticks({ to }: { to: number }): AsyncGenerator<number, void, void> {
        yield to;
      }
    }
    class Shop {
      readonly id = "";
      @field(t.string) name = "";
      // @ts-expect-error another type than the property's
      @field(t.int) other = "";
      @field(t.string, { auth: (user, { parent }: Of<Shop>) => parent.id === user.identity }) keys(): string {
        return this.id;
      }
      // @ts-expect-error the gate is over books
      @field(t.string, { auth: (user, { parent }: Of<BookRow>) => parent.title === user.identity }) wrong(): string {
        return this.id;
      }
    }
    schema({ query: { shop: field(Shop)(() => new Shop()) }, mutation: Mutation, subscription: Subscription });
  });
});

describe("a schema", () => {
  const query = { books: field(t.list(Book))(() => rows) };

  it("accepts objects of fields, instances, classes and lists of them", () => {
    class Query {
      readonly hello = field(t.string)(() => "");
    }
    class Needs {
      readonly name: string;
      constructor(name: string) {
        this.name = name;
      }
    }
    expectTypeOf(schema({ query })).toEqualTypeOf<GraphQLSchema>();
    schema({ query: Query });
    schema({ query: new Query() });
    schema({ query: [query, Query, new Query()], types: [Author, Genre] });
    // @ts-expect-error made with an argument
    schema({ query: Needs });
    // @ts-expect-error not a field
    schema({ query: { a: 1 } });
    // @ts-expect-error not a field, in a list
    schema({ query: [query, { a: 1 }] });
    // @ts-expect-error the resolver is forgotten
    schema({ query: { a: field(t.string) } });
    // @ts-expect-error a mutation among the queries
    schema({ query: { a: mutation(t.string)(() => "") } });
    // @ts-expect-error a query among the mutations
    schema({ query, mutation: query });
    // @ts-expect-error a field of books at the root
    schema({ query: { a: field(t.string)(({ parent }: { parent: BookRow }) => parent.title) } });
    schema({
      query: {
        // @ts-expect-error a gate over books at the root
        a: field(t.string, { auth: (user, { parent }: Of<BookRow>) => parent.title === user.identity })(() => ""),
      },
    });
    // @ts-expect-error misspelt
    schema({ query, mutations: {} });
  });

  it("has topics that carry their values", () => {
    const bookAdded = topic<BookRow>("book-added");
    const live = {
      bookAdded: subscription(Book, { shared: true })(async function* ({ ctx }) {
        yield* ctx.pubsub.subscribe(bookAdded);
      }),
      onSocket: subscription(Book, {
        params: { ws: WebSocketContext, genre: Genre },
        auth: (user, { args }) => args.genre === "novel" && user.hasPermission("x"),
      })(async function* ({ ws }) {
        expectTypeOf(ws.user).toEqualTypeOf<UserProtocol>();
        yield row;
      }),
    };
    schema({ query, subscription: live });
    // @ts-expect-error a topic of other rows
    subscription(Book)(async function* ({ ctx }) {
      yield* ctx.pubsub.subscribe(topic<AuthorRow>("author-added"));
    });
  });
});

it("a loader knows its keys and its values", () => {
  const authors = loader(async (ids: readonly string[]) => ids.map((id) => ({ id, name: "" })));
  expectTypeOf(authors).toEqualTypeOf<Loader<string, { id: string; name: string }>>();
  field(Author, { params: { id: t.id } })(({ ctx, id }) => authors.load(ctx, id));
  // @ts-expect-error keys are texts
  field(Author)(({ ctx }) => authors.load(ctx, 1));
  // @ts-expect-error and values authors
  field(Book)(({ ctx }) => authors.load(ctx, ""));
});

describe("an existing schema", () => {
  it("types the arguments of an injected resolver from its place", () => {
    type Resolver<Parent, Args, Result> = (
      parent: Parent,
      args: Args,
      context: unknown,
      info: GraphQLResolveInfo,
    ) => Result | Promise<Result>;
    interface Resolvers {
      readonly order: Resolver<{ shop: string }, { id: string }, { id: string } | null>;
    }
    const clock = Depend(() => 7);
    const resolvers = (): Resolvers => ({
      order: inject({ clock }, (parent, args, { clock, ctx }) => {
        expectTypeOf(parent).toEqualTypeOf<{ shop: string }>();
        expectTypeOf(args).toEqualTypeOf<{ id: string }>();
        expectTypeOf(clock).toEqualTypeOf<number>();
        expectTypeOf(ctx).toEqualTypeOf<BaseContext>();
        return args;
      }),
    });
    const wrong = (): Resolvers => ({
      // @ts-expect-error the result is not an order
      order: inject({ clock }, () => 7),
    });
    expectTypeOf(resolvers).toEqualTypeOf(wrong);
    // @ts-expect-error a class is not a dependency
    inject({ clock: Date }, () => 7);
  });

  it("takes gates by coordinate", () => {
    const served = (built: GraphQLSchema) =>
      new Graph(built, { rules: { Order: (user) => user.isAuthenticated }, context: ({ user }) => ({ user }) });
    expectTypeOf(served).returns.toEqualTypeOf<Graph>();
    // @ts-expect-error text is not a gate
    const wrong = (built: GraphQLSchema) => new Graph(built, { rules: { Order: "signed in" } });
    expectTypeOf(wrong).toEqualTypeOf(served);
  });
});

describe("the option node", () => {
  it("knows the rows and their properties", () => {
    interface Row {
      readonly id: string;
      readonly nr: number;
    }
    const load = (ids: readonly string[]): Row[] => ids.map((id) => ({ id, nr: 1 }));
    const One: ObjectType<Row> = object("One", { nr: t.int }, { node: { load, key: "nr" } });
    expectTypeOf(nodeKey(One, "")).toEqualTypeOf<string | null>();
    // @ts-expect-error -- no such property
    const Two: ObjectType<Row> = object("Two", { nr: t.int }, { node: { load, key: "no" } });
    // @ts-expect-error -- the rows lack a property
    const Three: ObjectType<Row> = object("Three", { nr: t.int }, { node: { load: () => [{ id: "" }] } });
    void [Two, Three];
  });
});

describe("enum values", () => {
  it("have the type of the values, in results, arguments and defaults", () => {
    const Status = t.enum("Status", { ACTIVE: 1, SOLD: { value: 2n }, WORD: "a word", plain: {} });

    expectTypeOf<InOf<typeof Status>>().toEqualTypeOf<1 | 2n | "a word" | "plain">();
    field(Status, { params: { status: Status(2n) } })(({ status }) => {
      expectTypeOf(status).toEqualTypeOf<1 | 2n | "a word" | "plain">();
      return status;
    });
    // @ts-expect-error the name is not the value
    Status("ACTIVE");
    // @ts-expect-error nor is it a result
    field(Status)(() => "SOLD" as const);
  });
});

describe("a scalar with a schema", () => {
  it("has the type of the schema's output in resolvers and gates", () => {
    const Line = t.input("Line", {
      count: t.string(z.coerce.number()),
      note: t.optional(t.string(z.string().brand("Note"))),
    });
    field(t.string, {
      params: {
        day: t.string(z.coerce.date(), "2026-11-16"),
        many: t.list(t.nullable(t.string(z.string().transform((text) => text.length)))),
        line: Line,
        point: t.json(z.object({ x: z.number() })),
        long: t.arg(t.string(z.coerce.date()), { default: "2026-11-16", description: "A day." }),
      },
      auth: (_user, { args }) => args.day.getTime() > 0,
    })(({ day, many, line, point, long }) => {
      expectTypeOf(day).toEqualTypeOf<Date>();
      expectTypeOf(many).toEqualTypeOf<(number | null)[]>();
      expectTypeOf(line.count).toEqualTypeOf<number>();
      expectTypeOf(line.note).toEqualTypeOf<(string & z.$brand<"Note">) | undefined>();
      expectTypeOf(point).toEqualTypeOf<{ x: number }>();
      expectTypeOf(long).toEqualTypeOf<Date>();
      return "";
    });
  });

  it("takes a schema that accepts the scalar, and a default of the scalar's type", () => {
    t.dateTime(z.date());
    // @ts-expect-error the schema does not accept numbers
    t.int(z.string());
    // @ts-expect-error the schema does not accept every string
    t.string(z.enum(["a", "b"]));
    // @ts-expect-error the default is an input of the schema, not an output
    t.string(z.coerce.date(), new Date());
    // @ts-expect-error likewise in the long form
    t.arg(t.string(z.coerce.date()), { default: new Date() });
  });

  it("is not the type of a field", () => {
    // @ts-expect-error only arguments have schemas
    field(t.string(z.string()));
    // @ts-expect-error nor of a property
    object<{ id: string }>("Row", { id: t.id(z.string()) });
  });
});

describe("directives", () => {
  const on = ["FIELD_DEFINITION"] as const;
  const mark = t.directive("mark", { on, args: { at: t.string, size: t.int(1), note: t.nullable(t.string) } });
  const bare = t.directive("bare", { on });

  it("take their arguments, and may omit those with a default", () => {
    field(t.string, { directives: [mark({ at: "x" }), mark({ at: "x", size: 2, note: null }), bare()] });
    // @ts-expect-error a required argument
    mark({});
    // @ts-expect-error a wrong type
    mark({ at: 1 });
    // @ts-expect-error an unknown argument
    bare({ at: "x" });
    // @ts-expect-error not called
    field(t.string, { directives: [bare] });
    // @ts-expect-error an unknown location
    t.directive("d", { on: ["NOWHERE"] });
  });
});
