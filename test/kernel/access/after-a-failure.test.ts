import { buildSchema, type GraphQLObjectType, type GraphQLSchema } from "graphql";
import { Conflict, Depend, PorticoApp, provide, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { field, Graph, inject, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import { openDatabase, type PorticoTables, transaction } from "portico/sql";
import { liveClient, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";

// After a root field of a mutation has failed, no other one may run in the transaction that is going to be rolled back.

const EXECUTORS = ["portico", "graphql-js"] as const;

/** A unit of work without a database, which records its outcome. */
function work() {
  const outcomes: string[] = [];
  const unit = provide(async function* ({ ctx }) {
    try {
      yield outcomes;
    } finally {
      outcomes.push(ctx.outcome);
    }
  });
  return { outcomes, params: { unit: Depend(unit) } };
}

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly { readonly path?: readonly unknown[]; readonly extensions?: object }[];
}
const codes = ({ errors = [] }: Result): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    errors.map(({ path = [], extensions }) => [path.join("."), (extensions as { readonly code?: unknown }).code]),
  );

describe.each(EXECUTORS)("executed by %s", (executor) => {
  /** The ways in which a root field can fail, each as a selection. */
  const FAILURES = {
    throws: "throws",
    rejects: "rejects",
    "is refused by the rule of its type": "refused { id }",
    "loses a non-null field below it": "broken { sure }",
    "has a value that its type cannot represent": "unreal",
    "has an item that fails in a list of non-null items": "listed { sure }",
  };

  function app(): { readonly app: PorticoApp; readonly ran: string[]; readonly outcomes: readonly string[] } {
    const ran: string[] = [];
    const { outcomes, params } = work();
    const never = rule<{ id: string }>({ name: "never", allows: () => false });
    const Refused: ObjectType<{ id: string }> = object("Refused", { id: t.id }, { auth: never });
    const Broken: ObjectType<object> = object("Broken", {
      sure: field(t.string, { nullable: false })(() => {
        throw new Conflict("Out of stock");
      }),
    });
    const run = (name: string) => (): string => {
      ran.push(name);
      return name;
    };
    const mutations = {
      throws: mutation(t.nullable(t.string), { params })(() => {
        throw new Conflict("Out of stock");
      }),
      rejects: mutation(t.nullable(t.string), { params })(async () => {
        throw new Conflict("Out of stock");
      }),
      refused: mutation(Refused, { params })(() => ({ id: "1" })),
      broken: mutation(t.nullable(Broken), { params })(async () => ({})),
      unreal: mutation(t.nullable(t.int), { params })(() => "no number" as never),
      listed: mutation(t.nullable(t.list(Broken)), { params })(() => [{}]),
      failsAlone: mutation(t.nullable(t.string))(() => {
        throw new Conflict("Out of stock");
      }),
      before: mutation(t.nullable(t.string), { params })(run("before")),
      next: mutation(t.nullable(t.string), { params })(run("next")),
      sure: mutation(t.string, { params })(run("sure")),
      outside: mutation(t.nullable(t.string))(run("outside")),
    };
    const built = new PorticoApp({ logger: false });
    new Graph(schema({ query: { hello: field(t.string)(() => "hi") }, mutation: mutations }), { executor }).mount(
      built,
    );
    return { app: built, ran, outcomes };
  }

  it.each(Object.entries(FAILURES))("a field that %s ends the mutation", async (_way, selection) => {
    const { app: built, ran, outcomes } = app();

    const result = await testClient(built).graphql(
      `mutation { before failed: ${selection} next ...Rest } fragment Rest on Mutation { outside kind: __typename }`,
    );

    expect(result.data).toEqual({ before: null, failed: null, next: null, outside: null, kind: "Mutation" });
    const { before, next, outside } = codes(result);
    expect([before, next, outside]).toEqual(["ROLLED_BACK", "ROLLED_BACK", "ROLLED_BACK"]);
    expect(ran).toEqual(["before"]);
    expect(outcomes).toEqual(["failure"]);
  });

  it("data is null if a field that did not run is non-null", async () => {
    const { app: built, ran } = app();

    const result = await testClient(built).graphql("mutation { throws sure }");

    expect(result.data).toBeNull();
    expect(codes(result)).toEqual({ throws: "CONFLICT", sure: "ROLLED_BACK" });
    expect(ran).toEqual([]);
  });

  it("no transaction begins after a failure, and fields without one run", async () => {
    const { app: built, ran, outcomes } = app();

    const result = await testClient(built).graphql("mutation { failsAlone next outside again: next }");

    expect(result.data).toEqual({ failsAlone: null, next: null, outside: "outside", again: null });
    expect(codes(result)).toEqual({ failsAlone: "CONFLICT", next: "ROLLED_BACK", again: "ROLLED_BACK" });
    expect([ran, outcomes]).toEqual([["outside"], []]);
  });

  it("conditions decide which fields there are, and their order", async () => {
    const { app: built, ran } = app();
    const document = `mutation ($no: Boolean!) {
      next @include(if: $no) before next ...F @skip(if: $no) throws late: next
    } fragment F on Mutation { outside }`;

    const result = await testClient(built).graphql(document, { no: false });

    expect(Object.keys(result.data ?? {})).toEqual(["before", "next", "outside", "throws", "late"]);
    expect(ran).toEqual(["before", "next", "outside"]);
    expect(codes(result)["late"]).toBe("ROLLED_BACK");
  });

  it("an adopted schema behaves like this", async () => {
    const ran: string[] = [];
    const { outcomes, params } = work();
    const built = new PorticoApp({ logger: false });
    const adopted = withResolvers(
      "type Query { hello: String } type Payload { sure: String! } type Mutation { fail: Payload later: String }",
      {
        fail: inject(params, () => ({ sure: null })),
        later: inject(params, () => {
          ran.push("later");
          return "later";
        }),
      },
    );
    new Graph(adopted, { executor }).mount(built);

    const result = await testClient(built).graphql("mutation { fail { sure } later }");

    expect(result.data).toEqual({ fail: null, later: null });
    expect(codes(result)["later"]).toBe("ROLLED_BACK");
    expect([ran, outcomes]).toEqual([[], ["failure"]]);
  });

  it("so does a mutation inside the transaction of a middleware", async () => {
    const { app: built, ran } = app();
    const database = openDatabase("sqlite::memory:");
    onTestFinished(() => database.destroy());
    built.use(async (ctx, next) => {
      const trx = await database.begin();
      await next();
      await trx.end(ctx.outcome);
    });

    const result = await testClient(built).graphql("mutation { failsAlone outside }");

    expect(codes(result)).toEqual({ failsAlone: "CONFLICT", outside: "ROLLED_BACK" });
    expect(ran).toEqual([]);
  });

  it("a refused membership authorizes nothing, and nothing tells a foreign object from a missing one", async () => {
    interface Tables extends PorticoTables {
      memberships: { user_id: string; club: string };
    }
    const database = openDatabase<Tables>("sqlite::memory:");
    onTestFinished(() => database.destroy());
    await database.schema.createTable("memberships").addColumn("user_id", "text").addColumn("club", "text").execute();
    const mails: string[] = [];
    const isMember = rule<{ club: string }>({
      name: "club.member",
      allows: async (user, { club }) =>
        (
          await database
            .current()
            .selectFrom("memberships")
            .select("club")
            .where("user_id", "=", user.identity)
            .where("club", "=", club)
            .execute()
        ).length > 0,
    });
    const never = rule<object>({ name: "never", allows: () => false });
    const Membership: ObjectType<{ user_id: string }> = object("Membership", { user_id: t.string }, { auth: never });
    const trx = transaction(database);
    const join = mutation(Membership, { params: { club: t.id, trx }, auth: true })(async ({ club, trx, ctx }) => {
      const row = { user_id: ctx.user.identity, club };
      await trx.insertInto("memberships").values(row).execute();
      return row;
    });
    const mail = mutation(t.nullable(t.string), { params: { club: t.id, trx }, auth: true })(async ({ club, ctx }) => {
      await ctx.authorize(isMember, club === "chess" ? { club } : undefined);
      mails.push(ctx.user.identity);
      return club;
    });
    const built = new PorticoApp({ logger: false });
    const query = { hello: field(t.string)(() => "hi") };
    new Graph(schema({ query, mutation: { join, mail } }), { executor }).mount(built);
    const client = await liveClient(built);
    onTestFinished(() => client.close());

    const result = await client
      .as(new SimpleUser("eve"))
      .graphql('mutation { join(club: "chess") { user_id } mail(club: "chess") missing: mail(club: "go") }');

    expect(codes(result)).toEqual({ join: "NOT_FOUND", mail: "ROLLED_BACK", missing: "ROLLED_BACK" });
    expect(mails).toEqual([]);
    expect(await database.selectFrom("memberships").selectAll().execute()).toEqual([]);
  });
});

function withResolvers(sdl: string, mutations: Readonly<Record<string, unknown>>): GraphQLSchema {
  const built = buildSchema(sdl);
  const fields = (built.getMutationType() as GraphQLObjectType).getFields();
  for (const [name, resolve] of Object.entries(mutations)) Object.assign(fields[name] as object, { resolve });
  return built;
}
