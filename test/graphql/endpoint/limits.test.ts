import { getIntrospectionQuery } from "graphql";
import { field, Limits, type LimitsOptions, type ObjectType, object, schema, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { bodyOf, bodyOfSize, codesOf, JSON_BODY, open, openSchema, verdictOf } from "./open.ts";

interface Node {
  readonly id: string;
}
const Node: ObjectType<Node> = object("Node", {
  id: t.id,
  node: field(() => Node)(() => ({ id: "inner" })),
});
let ran = 0;
const nodes = schema({
  query: {
    id: field(t.id)(() => {
      ran++;
      return "root";
    }),
    node: field(Node)(() => ({ id: "outer" })),
    any: field(t.boolean, { params: { value: t.nullable(t.json) } })(() => true),
    five: field(t.string, { cost: 5000 })(() => "5000"),
    more: field(t.string, { cost: 5001 })(() => "5001"),
  },
});

const repeat = (count: number, text: string | ((n: number) => string)): string =>
  Array.from({ length: count }, (_, n) => (typeof text === "string" ? text : text(n))).join(" ");
const names = ["cost", "depth", "aliases", "breadth", "fields", "tokens", "directives", "characters"] as const;
type Name = (typeof names)[number];

/** The documents count exactly `size` of one thing, and no more of any other than its default allows, as far as that goes. */
const documents: Readonly<Record<Name, (size: number) => string>> = {
  cost: (size) => (size === 5000 ? "{ five }" : "{ more }"),
  depth: (size) => `${repeat(size - 1, "{ node")} { id } ${repeat(size - 1, "}")}`,
  aliases: (size) => `{ ${repeat(size, (n) => `n${n}: id`)} }`,
  breadth: (size) => `{ ${repeat(size, "id")} }`,
  // Nine sets of 99 and one of 19, each in a field; the rest stands beside them.
  fields: (size) =>
    `{ ${repeat(9, `node { ${repeat(99, "id")} }`)} ${repeat(size - 900 - 20, "id")} node { ${repeat(19, "id")} } }`,
  // Nine are not in the list: `{ any ( value : [ ] ) }`.
  tokens: (size) => `{ any(value: [${repeat(size - 9, "1")}]) }`,
  directives: (size) => `{ ${repeat(size, "id @include(if: true)")} }`,
  characters: (size) => `{ id }${"\n".repeat(size - 6)}`,
};
const defaults: Readonly<Record<Name, number>> = {
  cost: 5000,
  depth: 15,
  aliases: 30,
  breadth: 100,
  fields: 1000,
  tokens: 2000,
  directives: 50,
  characters: 65_536,
};
const codes: Readonly<Record<Name, string>> = {
  cost: "COST_LIMIT_EXCEEDED",
  depth: "DEPTH_LIMIT_EXCEEDED",
  aliases: "ALIAS_LIMIT_EXCEEDED",
  breadth: "BREADTH_LIMIT_EXCEEDED",
  fields: "FIELD_LIMIT_EXCEEDED",
  tokens: "TOKEN_LIMIT_EXCEEDED",
  directives: "DIRECTIVE_LIMIT_EXCEEDED",
  characters: "CHARACTER_LIMIT_EXCEEDED",
};
const off = (kept: Name | null): LimitsOptions =>
  Object.fromEntries(names.filter((name) => name !== kept).map((name) => [name, null]));

describe("by default", () => {
  it.each([
    ["[LIM-05]", "cost", 5000],
    ["[LIM-06]", "depth", 15],
    ["[LIM-07]", "aliases", 30],
    ["[LIM-08]", "breadth", 100],
    ["[LIM-09]", "fields", 1000],
    ["[LIM-10]", "tokens", 2000],
    ["[LIM-11]", "directives", 50],
    ["[LIM-23]", "characters", 65_536],
  ] as const)("%s %s is %i: that many run, one more is rejected before execution", async (_clause, name, most) => {
    const { client } = await openSchema(nodes, { limits: new Limits(off(name)) });
    const ask = (size: number) => client.post("/graphql", { body: { query: documents[name](size) } });

    const fits = await ask(most);
    ran = 0;
    const over = await ask(most + 1);

    expect([fits.status, bodyOf(fits).errors]).toEqual([200, undefined]);
    expect([verdictOf(over), ran]).toEqual([[400, codes[name]], 0]);
  });

  it("[LIM-16] ten operations make a batch, eleven do not", async () => {
    const { client, ran } = await open();
    const batch = (count: number) => Array.from({ length: count }, () => ({ query: "{ hello }" }));

    const answers = [
      await client.post("/graphql", { body: batch(10) }),
      await client.post("/graphql", { body: batch(11) }),
    ];

    expect([answers.map(({ status }) => status), ran]).toEqual([[200, 400], { hello: 10 }]);
  });

  it("[LIM-17] a body may have 1 MiB, and not one byte more", async () => {
    const { client } = await open();

    const fits = await client.post("/graphql", { headers: JSON_BODY, body: bodyOfSize(1024 ** 2) });
    const over = await client.post("/graphql", { headers: JSON_BODY, body: bodyOfSize(1024 ** 2 + 1) });

    expect([fits.status, over.status]).toEqual([200, 413]);
  });
});

describe("Limits", () => {
  it("[LIM-01] apply to the operation that runs, and count its own selections", async () => {
    const { client } = await open({ limits: { cost: 2 } });
    const query = "query Small { hello hello } query Large { hello hello hello }";

    const answers = [
      await client.post("/graphql", { body: { query, operationName: "Small" } }),
      await client.post("/graphql", { body: { query, operationName: "Large" } }),
    ];

    expect(answers.map(verdictOf)).toEqual([[200], [400, "COST_LIMIT_EXCEEDED"]]);
    expect(answers[0] && bodyOf(answers[0]).extensions?.cost).toMatchObject({ cost: 2 });
  });

  it("[LIM-02] set the budget", async () => {
    const { client } = await open({ limits: new Limits({ cost: 3 }) });

    const answers = [
      await client.post("/graphql", { body: { query: "{ hello hello hello }" } }),
      await client.post("/graphql", { body: { query: "{ hello hello hello hello }" } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  });

  it.each(names)("[LIM-12] without %s still apply the others", async (name) => {
    const { client } = await openSchema(nodes, { limits: new Limits({ [name]: null }) });

    const answers = await Promise.all(
      names.map((other) => client.post("/graphql", { body: { query: documents[other](defaults[other] + 1) } })),
    );

    expect(answers.map((answer) => verdictOf(answer))).toEqual(
      names.map((other) => (other === name ? [200] : [400, codes[other]])),
    );
  });

  it("[LIM-13] exempt nothing by its name, and let the standard introspection query through", async () => {
    const { client } = await open({ introspection: true });

    const typenames = await client.post("/graphql", { body: { query: `{ ${repeat(101, "__typename")} }` } });
    const meta = await client.post("/graphql", {
      body: { query: `{ ${repeat(31, (n) => `s${n}: __schema { types { name } }`)} }` },
    });
    const standard = await client.post("/graphql", { body: { query: getIntrospectionQuery() } });

    expect([verdictOf(typenames), verdictOf(meta)]).toEqual([
      [400, "BREADTH_LIMIT_EXCEEDED"],
      [400, "ALIAS_LIMIT_EXCEEDED"],
    ]);
    expect([standard.status, bodyOf(standard).errors]).toEqual([200, undefined]);
  });

  it.each([
    ["characters before tokens", `{ ${repeat(2000, "hello")} ${" ".repeat(65_536)}`, "CHARACTER_LIMIT_EXCEEDED"],
    ["tokens before the parser", `{ ${repeat(2000, "hello")} `, "TOKEN_LIMIT_EXCEEDED"],
    ["the parser before the structure", `{ ${repeat(31, (n) => `n${n}: hello`)}`, "GRAPHQL_PARSE_FAILED"],
    ["the structure before validation", `{ ${repeat(31, (n) => `n${n}: nope`)} }`, "ALIAS_LIMIT_EXCEEDED"],
    ["validation before variables", "query ($i: Int!) { echo(i: $i) nope }", "GRAPHQL_VALIDATION_FAILED"],
    [
      "variables before the cost",
      "query ($i: Int!) { echo(i: $i) list(first: 100) { id list(first: 100) { id } } }",
      "BAD_USER_INPUT",
    ],
  ])("[LIM-14] are checked in their order: %s", async (_title, query, code) => {
    const { client, ran } = await open();

    const answer = await client.post("/graphql", { body: { query, variables: { i: "x" } } });

    expect([answer.status, [...new Set(codesOf(answer))], ran]).toEqual([400, [code], {}]);
  });

  it.each(names.filter((name) => name !== "cost"))(
    "[LIM-21] return 400 with a code for %s, and name the limit and the count",
    async (name) => {
      const { client } = await openSchema(nodes);
      const size = defaults[name] + 1;

      const answer = await client.post("/graphql", { body: { query: documents[name](size) } });

      expect(verdictOf(answer)).toEqual([400, codes[name]]);
      const [error] = bodyOf(answer).errors ?? [];
      expect(error?.message.match(/\d+/g)).toEqual([String(size), String(defaults[name])]);
      expect(bodyOf(answer)).not.toHaveProperty("data");
    },
  );

  it.each([
    ["TOKEN_LIMIT_EXCEEDED", `{ ${repeat(16, "node {")} any(value: [${repeat(2000, "1")}]) ${repeat(17, "}")}`],
    ["DEPTH_LIMIT_EXCEEDED", `{ ${repeat(31, (n) => `n${n}: id`)} ${repeat(16, "node {")} id ${repeat(17, "}")}`],
    ["ALIAS_LIMIT_EXCEEDED", `{ ${repeat(101, (n) => `n${n}: id`)} }`],
    ["BREADTH_LIMIT_EXCEEDED", `{ ${repeat(1001, "id")} }`],
    [
      "FIELD_LIMIT_EXCEEDED",
      `{ ${repeat(51, "id @include(if: true)")} ${repeat(10, `node { ${repeat(99, "id")} }`)} }`,
    ],
  ])("[LIM-22] report the first one that is exceeded: %s", async (code, query) => {
    const { client } = await openSchema(nodes);

    const answer = await client.post("/graphql", { body: { query } });

    expect(verdictOf(answer)).toEqual([400, code]);
  });

  it("are set one by one, like uploads, GET queries and cost reporting", async () => {
    const noCost = await open({ limits: { cost: null } });
    const noGet = await open({ transport: { getQueries: false } });
    const uploads = await open({ uploads: { enabled: true } });
    const multipart = { headers: { "content-type": "multipart/form-data; boundary=x" }, body: "--x--\r\n" };

    const seen = await Promise.all(
      [noCost, noGet, uploads].map(async ({ client }) => [
        (await client.get("/graphql", { query: { query: "{ hello }" } })).status,
        (await client.post("/graphql", multipart)).status,
        bodyOf(await client.post("/graphql", { body: { query: "{ hello }" } })).extensions !== undefined,
      ]),
    );

    expect(seen).toEqual([
      [200, 415, false],
      [405, 415, true],
      [200, 400, true],
    ]);
  });
});
