import type { GraphQLSchema } from "graphql";
import { ConfigurationError, PorticoApp, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { connection, field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination, type Filterable } from "portico/pagination";
import { liveClient, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";

interface Person {
  readonly id: string;
  readonly name: string;
  readonly pay: number;
  readonly team_id: string;
}
const people: readonly Person[] = [
  { id: "1", name: "Ann", pay: 91, team_id: "t7" },
  { id: "2", name: "Bob", pay: 45, team_id: "t8" },
];
const hr = useAuth({ permissions: ["hr"] });
const Team: ObjectType<{ readonly id: string }> = object("Team", { id: t.id });
const Band = t.scalar<number>("Band", { serialize: (pay) => (pay > 50 ? "high" : "low"), parse: Number });

type Fields = Readonly<Record<string, unknown>>;
const listOf = (fields: Fields, strategy: object): GraphQLSchema => {
  const Row: ObjectType<Person> = object("Person", { id: t.id, name: t.string, ...fields } as never);
  return schema({ query: { staff: connection(Row, strategy as CursorPagination)(() => people) } });
};
const byPay = new CursorPagination({ sortable: { salary: "pay" } });
const inTeam = new CursorPagination({ filterable: { team: { column: "team_id", type: "id", by: ["equal"] } } });
const paidPublic = new CursorPagination({
  sortable: { salary: { column: "pay", public: true } },
  filterable: { salary: { column: "pay", type: "integer", by: ["range"], public: true } },
});

function ask(built: GraphQLSchema, args: string, permissions?: readonly string[]) {
  const app = new PorticoApp({ logger: false });
  new Graph(built).mount(app);
  onTestFinished(() => app.close());
  const client = testClient(app);
  const caller = permissions === undefined ? client : client.as(new SimpleUser("eve", permissions));
  return caller.graphql(`{ staff(${args}) { nodes { name } } }`);
}
const codesOf = async (built: GraphQLSchema, args: string, permissions?: readonly string[]) =>
  (await ask(built, args, permissions)).errors?.map(({ extensions }) => extensions["code"]) ?? [];

describe("a column that a client sorts or filters by", () => {
  // Each of these let anyone find out the salary, or would have.
  it.each<[string, Fields, object]>([
    ["no field", {}, byPay],
    ["a resolver with a gate", { salary: field(t.int, { auth: true, reads: ["pay"] })(() => 1) }, byPay],
    ["an open resolver that computes from it", { band: field(t.string, { reads: ["pay"] })(() => "high") }, byPay],
    ["an open resolver of the same name", { pay: field(t.int)(() => 0) }, byPay],
    ["a field with a similar name", { PAY: t.nullable(t.int) }, byPay],
    ["a relation", { team: field(Team, { auth: true, reads: ["team_id"] })(() => ({ id: "t" })) }, inTeam],
    ["an open relation", { team: field(Team, { reads: ["team_id"] })(() => ({ id: "t" })) }, inTeam],
    ["an object type", { team_id: Team }, inTeam],
    ["a scalar that hides a part", { pay: Band }, byPay],
    ["a list of such scalars", { pay: t.list(Band) }, byPay],
  ])("stops startup if it is returned by %s", (_what, fields, strategy) => {
    const column = strategy === byPay ? "pay" : "team_id";

    expect(() => listOf(fields, strategy)).toThrow(ConfigurationError);
    expect(() => listOf(fields, strategy)).toThrow(`no field of Person returns ${column} unchanged`);
  });

  it("names the list, the column and the remedies", () => {
    expect(() => listOf({}, byPay)).toThrow(
      'Query.staff is sortable by salary, but no field of Person returns pay unchanged, so clients could determine its values one request at a time: remove salary from sortable, return pay from a field without a resolver, whose gate then decides, or declare salary as { column: "pay", public: true } if every caller of the list may know its values',
    );
    expect(() => listOf({}, inTeam)).toThrow("or add public: true to the filter team if every caller");
  });

  it.each<[string, Fields, Filterable, string]>([
    ["text", { pay: t.nullable(t.int) }, { pay: { type: "text", by: ["prefix"] } }, "returns numbers for pay"],
    ["words", { pay: field(t.float, { auth: hr }) }, { pay: { type: ["91"], by: ["in"] } }, "returns numbers for pay"],
    ["text", { isNew: t.boolean }, { isNew: { type: "text", by: ["equal"] } }, 'with the type "boolean"'],
  ])(
    "stops startup if it is compared as %s, and a field returns another kind",
    (_what, fields, filterable, sentence) => {
      expect(() => listOf(fields, new CursorPagination({ filterable }))).toThrow(sentence);
    },
  );

  it.each<[string, Fields]>([
    ["the column", { pay: t.int }],
    ["the column under another name", { pay: field(t.int, { name: "salary" }) }],
    ["a nullable column", { pay: t.nullable(t.int) }],
    ["the column beside a gated field", { pay: t.int, salary: field(t.int, { auth: hr, reads: ["pay"] })(() => 1) }],
    ["an enum", { pay: t.enum("Pay", { HIGH: { value: 91 }, LOW: { value: 45 } }) }],
    ["a scalar that converts with Number", { pay: t.scalar("Cents", { serialize: Number, parse: Number }) }],
  ])("needs no gate if an open field returns %s", async (_what, fields) => {
    expect(await codesOf(listOf(fields, byPay), "sort: [SALARY_DESC]")).toEqual([]);
  });

  it("asks the gates of all fields that return it, if none of them is open", async () => {
    const twice = listOf(
      { pay: field(t.int, { name: "salary", auth: hr }), band: field(t.string, { reads: ["pay"] })(() => "high") },
      byPay,
    );

    expect(await codesOf(twice, "sort: [SALARY_DESC]")).toEqual(["UNAUTHENTICATED"]);
    expect(await codesOf(twice, "sort: [SALARY_DESC]", [])).toEqual(["FORBIDDEN"]);
    expect(await codesOf(twice, "sort: [SALARY_DESC]", ["hr"])).toEqual([]);
    expect(await codesOf(twice, "first: 1")).toEqual([]);
  });

  it("may be public, which opens no gate", async () => {
    const open = listOf({ band: field(t.string, { reads: ["pay"] })(() => "high") }, paidPublic);
    const read = listOf({ salary: field(t.int, { auth: hr, reads: ["pay"] })(() => 1) }, paidPublic);
    const named = listOf({ pay: field(t.int, { auth: hr })(() => 1) }, paidPublic);
    const returned = listOf({ pay: field(t.int, { auth: hr }) }, paidPublic);

    for (const args of ["sort: [SALARY_DESC]", "filter: { salary: { lt: 50 } }"]) {
      expect(await codesOf(open, args)).toEqual([]);
      for (const gated of [read, named, returned]) {
        expect(await codesOf(gated, args)).toEqual(["UNAUTHENTICATED"]);
        expect(await codesOf(gated, args, [])).toEqual(["FORBIDDEN"]);
        expect(await codesOf(gated, args, ["hr"])).toEqual([]);
      }
    }
  });

  it("cannot have a gate that decides about an object, public or not", () => {
    const own = rule<Person>({ name: "own", allows: () => true });

    for (const fields of [
      { pay: field(t.int, { auth: own }) },
      { salary: field(t.int, { auth: own, reads: ["pay"] })(() => 1) },
    ])
      expect(() => listOf(fields, paidPublic)).toThrow(
        "needs an object to decide about, and there is none before the list is read",
      );
  });

  it("may be the key in a global id", async () => {
    const node = { load: () => people };
    const Row: ObjectType<Person> = object("Person", { name: t.string }, { node });
    const staff = connection(Row, new CursorPagination({ sortable: ["id"] }))(() => people);

    expect(await codesOf(schema({ query: { staff } }), "sort: [ID_DESC]")).toEqual([]);
  });

  it("may be hidden if only the author orders by it", async () => {
    const { data } = await ask(listOf({}, new CursorPagination({ order: [["pay", "asc"]] })), "first: 2");

    expect(data).toEqual({ staff: { nodes: [{ name: "Bob" }, { name: "Ann" }] } });
  });

  it("is not found out by bisection over a socket", async () => {
    const app = new PorticoApp({ logger: false });
    const fields = { pay: field(t.int, { name: "salary", auth: hr }) };
    const filtered = new CursorPagination({
      filterable: { salary: { column: "pay", type: "integer", by: ["range"] } },
    });
    new Graph(listOf(fields, filtered)).mount(app);
    const client = await liveClient(app);
    onTestFinished(() => app.close());

    const answers = await Promise.all(
      [0, 45, 90, 91, 1_000].map((most) =>
        client.graphql(`{ staff(filter: { salary: { lte: ${most} } }) { nodes { name } totalCount } }`),
      ),
    );

    for (const { data, errors } of answers)
      expect([data, errors?.map(({ extensions }) => extensions["code"])]).toEqual([null, ["UNAUTHENTICATED"]]);
  });
});
