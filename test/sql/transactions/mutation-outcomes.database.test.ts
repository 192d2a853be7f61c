import { sql } from "kysely";
import { Depend, HttpException, PorticoApp, provide, rateLimit } from "portico";
import { SimpleUser } from "portico/auth";
import {
  field,
  Graph,
  GraphQLDenied,
  mutation,
  type ObjectType,
  object,
  schema,
  subscription,
  t,
} from "portico/graphql";
import type { Database, PorticoTables } from "portico/sql";
import { liveClient, testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newPlace, type Place } from "../accounts/databases.ts";

interface Tables extends PorticoTables {
  orders: { title: string };
}

let place: Place;
let database: Database<Tables>;
let events: string[];
beforeAll(async () => {
  place = await newPlace("PostgreSQL");
  database = place.open<Tables>();
  await sql`create table orders (title text not null)`.execute(database);
});
beforeEach(async () => {
  events = [];
  await database.deleteFrom("orders").execute();
});
afterAll(() => place?.remove());

const unitOfWork = provide(async function* ({ ctx }) {
  const trx = await database.begin();
  try {
    yield trx;
  } finally {
    events.push(ctx.outcome);
    await trx.end(ctx.outcome);
  }
});
const params = { title: t.string, trx: Depend(unitOfWork) };
const placed = async ({ title, trx }: { title: string; trx: Database<Tables> }): Promise<string> => {
  await trx.insertInto("orders").values({ title }).execute();
  return title;
};
const titles = async (): Promise<string[]> =>
  (await database.selectFrom("orders").select("title").orderBy("title").execute()).map(({ title }) => title);

const Order: ObjectType<{ title: string }> = object("Order", {
  title: field(t.string)(({ parent }) => parent.title),
  secret: field(t.nullable(t.string), { auth: () => false })(() => "secret"),
});

function build(): PorticoApp {
  const app = new PorticoApp({ logger: false });
  const mutations = {
    place: mutation(t.nullable(t.string), { params })(placed),
    placeSurely: mutation(t.string, { params })(placed),
    placeQuietly: mutation(t.nullable(t.string), { params })(async (args) => {
      await placed(args);
      return null;
    }),
    placeOrder: mutation(t.nullable(Order), { params })(async (args) => ({ title: await placed(args) })),
    ship: mutation(t.nullable(t.string), { params: { trx: Depend(unitOfWork) } })(() => {
      throw new HttpException(409, "Out of stock");
    }),
    count: mutation(t.nullable(t.int))(() => 1),
    fail: mutation(t.nullable(t.int))(() => {
      throw new HttpException(409, "Out of stock");
    }),
    denied: mutation(t.nullable(t.string), { params, auth: () => false })(placed),
    deniedLater: mutation(t.nullable(t.string), { params, auth: async () => false })(placed),
    deniedSurely: mutation(t.string, { params, auth: () => false, nullable: false })(placed),
    limited: mutation(t.nullable(t.string), {
      params,
      limit: rateLimit({ perHour: 1, key: () => "everyone" }),
    })(placed),
    changesItsMind: mutation(t.nullable(t.string), { params, auth: true })(async (args) => {
      await placed(args);
      throw new GraphQLDenied("FORBIDDEN");
    }),
  };
  const query = {
    orders: field(t.nullable(t.int), { params: { trx: Depend(unitOfWork) } })(() => 3),
    broken: field(t.nullable(t.int))(() => {
      throw new HttpException(409, "Out of stock");
    }),
  };
  const ticks = subscription(t.int)(async function* () {
    yield 1;
  });
  new Graph(schema({ query, mutation: mutations, subscription: { ticks } }), {
    subscriptions: { operations: true },
  }).mount(app);
  return app;
}

interface Answer {
  readonly data: unknown;
  readonly errors?: readonly {
    message: string;
    path: unknown[];
    locations: unknown;
    extensions: { code: string };
  }[];
}
const codes = ({ errors = [] }: Answer): string[] =>
  errors.map(({ path, extensions }) => `${path.join(".")} ${extensions.code}`);

async function ask(query: string, app: PorticoApp = build()): Promise<Answer> {
  return (await testClient(app).as(new SimpleUser("ann")).post("/graphql", { body: { query } })).json() as Answer;
}

describe("a root field that is refused before it runs", () => {
  it.each(["denied", "deniedLater"])("does not fail its siblings: %s by its gate", async (name) => {
    const answer = await ask(
      `mutation { place(title: "Emma") no: ${name}(title: "no") last: place(title: "Sanditon") }`,
    );

    expect(answer.data).toEqual({ place: "Emma", no: null, last: "Sanditon" });
    expect(codes(answer)).toEqual(["no FORBIDDEN"]);
    expect(events).toEqual(["success"]);
    expect(await titles()).toEqual(["Emma", "Sanditon"]);
  });

  it("does not fail them by its rate limit either", async () => {
    const answer = await ask(`mutation { first: limited(title: "Emma") second: limited(title: "Persuasion") }`);

    expect(answer.data).toEqual({ first: "Emma", second: null });
    expect(codes(answer)).toEqual(["second RATE_LIMITED"]);
    expect(await titles()).toEqual(["Emma"]);
  });

  it("fails the operation if it is non-null, because nothing is left of the data", async () => {
    const answer = await ask(`mutation { place(title: "Emma") deniedSurely(title: "no") }`);

    expect(answer.data).toBeNull();
    expect(codes(answer)).toEqual(["deniedSurely FORBIDDEN"]);
    expect(events).toEqual(["failure"]);
    expect(await titles()).toEqual([]);
  });

  it("is reported as refused, not as rolled back, if another field fails", async () => {
    const answer = await ask(`mutation { place(title: "Emma") denied(title: "no") ship }`);

    expect(answer.data).toEqual({ place: null, denied: null, ship: null });
    expect(codes(answer)).toEqual(["denied FORBIDDEN", "ship CONFLICT", "place ROLLED_BACK"]);
    expect(await titles()).toEqual([]);
  });

  it("is not one whose resolver throws the denial, because it did run", async () => {
    const answer = await ask(`mutation { place(title: "Emma") changesItsMind(title: "Persuasion") }`);

    expect(answer.data).toEqual({ place: null, changesItsMind: null });
    expect(codes(answer)).toEqual(["changesItsMind FORBIDDEN", "place ROLLED_BACK"]);
    expect(events).toEqual(["failure"]);
    expect(await titles()).toEqual([]);
  });
});

describe("a mutation that was rolled back", () => {
  it("reports none of its fields as done", async () => {
    const answer = await ask(`mutation {
      place(title: "Emma")
      ship
      again: placeOrder(title: "Persuasion") { title }
      __typename
    }`);

    expect(answer.data).toEqual({ place: null, ship: null, again: null, __typename: "Mutation" });
    expect(codes(answer)).toEqual(["ship CONFLICT", "place ROLLED_BACK", "again ROLLED_BACK"]);
    expect(answer.errors?.[1]).toMatchObject({
      message: "The operation was rolled back",
      locations: [{ line: 2, column: 7 }],
    });
    expect(await titles()).toEqual([]);
  });

  it("reports a field that returned null as rolled back too", async () => {
    const answer = await ask(`mutation { placeQuietly(title: "Emma") ship }`);

    expect(codes(answer)).toEqual(["ship CONFLICT", "placeQuietly ROLLED_BACK"]);
  });

  it("has no data if one of these fields is non-null", async () => {
    const answer = await ask(`mutation { place(title: "Emma") placeSurely(title: "Persuasion") ship }`);

    expect(answer.data).toBeNull();
    expect(codes(answer)).toEqual(["ship CONFLICT", "place ROLLED_BACK", "placeSurely ROLLED_BACK"]);
    expect(await titles()).toEqual([]);
  });

  it("finds its fields in fragments, under any alias", async () => {
    const answer = await ask(`
      mutation One { ...Two ... on Mutation { b: placeSurely(title: "Persuasion") @skip(if: true) } ship }
      fragment Two on Mutation { __proto__: place(title: "Emma") ...Three }
      fragment Three on Mutation { constructor: place(title: "Sanditon") }
    `);

    expect(JSON.stringify(answer.data)).toBe('{"__proto__":null,"constructor":null,"ship":null}');
    expect(codes(answer)).toEqual(["ship CONFLICT", "__proto__ ROLLED_BACK", "constructor ROLLED_BACK"]);
  });

  it("is one without data if a transaction of a middleware is around it", async () => {
    const app = build().use(async (ctx, next) => {
      const trx = await database.begin();
      await next();
      await trx.end(ctx.outcome);
    });

    const answer = await ask("mutation { count fail }", app);

    expect(answer.data).toEqual({ count: null, fail: null });
    expect(codes(answer)).toEqual(["fail CONFLICT", "count ROLLED_BACK"]);
  });
});

describe("the data stays", () => {
  it("if nothing could be rolled back", async () => {
    const answer = await ask("mutation { count fail }");

    expect(answer.data).toEqual({ count: 1, fail: null });
    expect(codes(answer)).toEqual(["fail CONFLICT"]);
  });

  it("if only a nested field failed", async () => {
    const answer = await ask(`mutation { placeOrder(title: "Emma") { title secret } }`);

    expect(answer.data).toEqual({ placeOrder: { title: "Emma", secret: null } });
    expect(codes(answer)).toEqual(["placeOrder.secret FORBIDDEN"]);
    expect(await titles()).toEqual(["Emma"]);
  });

  it("in a query, which has the outcome but did nothing that could be undone", async () => {
    const answer = await ask("{ orders broken }");

    expect(answer.data).toEqual({ orders: 3, broken: null });
    expect(codes(answer)).toEqual(["broken CONFLICT"]);
    expect(events).toEqual(["failure"]);
  });
});

describe("every transport", () => {
  const MUTATION = `mutation { place(title: "Emma") ship }`;
  const UNDONE = ["ship CONFLICT", "place ROLLED_BACK"];

  it("reports it: a batch, for its own entry only", async () => {
    const body = [{ query: `mutation { place(title: "Persuasion") }` }, { query: MUTATION }];

    const answers = (await testClient(build()).post("/graphql", { body })).json() as Answer[];

    expect(answers.map(({ data }) => data)).toEqual([{ place: "Persuasion" }, { place: null, ship: null }]);
    expect(answers.map(codes)).toEqual([[], UNDONE]);
    expect(await titles()).toEqual(["Persuasion"]);
  });

  it("reports it: an event stream", async () => {
    const text = (
      await testClient(build()).post("/graphql", {
        headers: { accept: "text/event-stream" },
        body: { query: MUTATION },
      })
    ).text();

    const line = text.split("\n").find((line) => line.startsWith("data: {")) ?? "data: null";
    const answer = JSON.parse(line.slice("data: ".length)) as Answer;
    expect(answer.data).toEqual({ place: null, ship: null });
    expect(codes(answer)).toEqual(UNDONE);
    expect(await titles()).toEqual([]);
  });

  it("reports it: a WebSocket", async () => {
    const client = await liveClient(build());
    try {
      const socket = await client.socket("/graphql", { protocols: ["graphql-transport-ws"] });
      socket.send(JSON.stringify({ type: "connection_init" }));
      await socket.next();
      socket.send(JSON.stringify({ type: "subscribe", id: "1", payload: { query: MUTATION } }));

      const { payload } = JSON.parse(await socket.next()) as { payload: Answer };

      expect(payload.data).toEqual({ place: null, ship: null });
      expect(codes(payload)).toEqual(UNDONE);
      expect(await titles()).toEqual([]);
    } finally {
      await client.close();
    }
  });

  it("or never runs it: GET takes queries only, and they keep their data", async () => {
    const get = (query: string) => testClient(build()).get(`/graphql?query=${encodeURIComponent(query)}`);

    expect((await get(MUTATION)).status).toBe(405);
    expect((await get("{ orders broken }")).json()).toMatchObject({ data: { orders: 3, broken: null } });
    expect(await titles()).toEqual([]);
  });
});
